import type { StoredRule } from "../../projects/rule.ts";
import { wholeLadder } from "../ladder.ts";
import { PATIENCE_SECONDS } from "../unheard.ts";
import { type AlertEffect, type Life, set, type Turn } from "./turn.ts";

/** Whose pages are looked after: where none gets through and nobody else would come, the fallback does (`pageBeside`). */

/** Where nobody else comes, it is looked at later whether a page has got through. `before`: the alert before the step. */
export function lookAfterPages(turn: Turn, before: Life): void {
  const { alert, effects, moment } = turn;
  const { unheard_at, due_at } = alert;
  const { rule } = moment;
  if (!isLast(alert, rule) || effects.some(({ what }) => what === "fallback")) {
    if (unheard_at !== null) set(turn, { unheard_at: null });
    return;
  }
  const isNew = !isLast(before, rule) || effects.some(isAnew);
  if (unheard_at !== null || !isNew || !moment.reachable.isKnown) return;
  const at = moment.at + PATIENCE_SECONDS;
  set(turn, { unheard_at: at, due_at: Math.min(due_at ?? at, at) });
}

/** Whether those whom it paged last are the last: no rung is ahead. What comes behind the last pass is the fallback. */
const isLast = (alert: Life, rule: StoredRule | null): boolean =>
  alert.state === "open" &&
  alert.silenced_by === null &&
  alert.page_accounts !== "[]" &&
  (alert.step_at === null || (rule !== null && wholeLadder(rule)[alert.step]?.isEnd === true));

/** Why the fallback was paged last, where nobody was paged anew since; null: it wasn't. */
export const fallbackBefore = ({ effects, moment }: Turn): string | null =>
  effects.some(isAnew) ? null : moment.fallbackSince();

/** As `unheard.ts` finds it in the history. */
export const isAnew = (one: AlertEffect): boolean =>
  one.what === "assigned" ||
  one.what === "released" ||
  (one.what === "escalated" && !one.span.repeat && one.climb.paged !== null) ||
  (one.what === "line" && (one.kind === "unacknowledged" || one.kind === "reopened"));
