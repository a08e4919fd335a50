import type { StoredRule } from "../../projects/rule.ts";
import { wholeLadder } from "../ladder.ts";
import { PATIENCE_SECONDS } from "../undelivered.ts";
import { type AlertEffect, type Life, set, type Turn } from "./turn.ts";

/** Whose pages are looked after: where none gets through and nobody else would come, the fallback does (`pageBeside`). */

/** Where nobody else comes, it is looked at later whether a page has got through. `before`: the alert before the step. */
export function lookAfterPages(turn: Turn, before: Life): void {
  const { alert, effects, moment } = turn;
  const { undelivered_at, due_at } = alert;
  const { rule } = moment;
  if (!isLast(alert, rule) || effects.some(({ what }) => what === "fallback")) {
    if (undelivered_at !== null) set(turn, { undelivered_at: null });
    return;
  }
  // The end of a silence pages nobody anew; the ten minutes begin with it all the same.
  const isNew =
    !isLast(before, rule) || effects.some((one) => isAnew(one) || one.what === "released");
  if (!isNew || !moment.reachable.isKnown) return;
  const at = moment.at + PATIENCE_SECONDS;
  set(turn, { undelivered_at: at, due_at: Math.min(due_at ?? at, at) });
}

/** Whether those whom it paged last are the last: no rung is ahead. What comes behind the last pass is the fallback. */
export const isLast = (alert: Life, rule: StoredRule | null): boolean =>
  alert.state === "open" &&
  alert.silenced_by === null &&
  alert.page_accounts !== "[]" &&
  (alert.step_at === null || (rule !== null && wholeLadder(rule)[alert.step]?.isEnd === true));

/** Why the fallback was paged last, where nobody was paged anew since; null: it wasn't. */
export function fallbackBefore({ effects, moment }: Turn): string | null {
  const last = effects.findLast((one) => isAnew(one) || whyFallback(one) !== null);
  return last === undefined ? moment.fallbackSince() : whyFallback(last);
}

/** Why the fallback is paged by this; null: it isn't. */
export const whyFallback = (one: AlertEffect): string | null =>
  one.what === "line" && one.kind === "fallback" ? String(one.detail?.["why"]) : null;

/** As `undelivered.ts` finds it in the history. */
export const isAnew = (one: AlertEffect): boolean =>
  one.what === "assigned" ||
  (one.what === "escalated" && !one.span.repeat && one.climb.paged !== null) ||
  (one.what === "line" && (one.kind === "unacknowledged" || one.kind === "reopened"));
