import type { PagedPerson } from "../../../out/paging/pages.ts";
import type { StoredRule } from "../../projects/rule.ts";
import type { AlertColumns } from "../apply.ts";
import { end, look, pageFallback, pageOthers } from "./due.ts";
import { takeOver } from "./merged.ts";
import {
  assign,
  bringBack,
  handBack,
  join,
  leave,
  nextRungNow,
  take,
  takeUntil,
} from "./people.ts";
import { hold, holdIfQuiet, oweBesides, renotify, tellWithHeld } from "./quiet.ts";
import { followRule } from "./rule.ts";
import {
  type AlertEffect,
  type AlertMoment,
  type Counted,
  effect,
  type Life,
  type Resolver,
  set,
  type Turn,
} from "./turn.ts";
import { fallbackBefore, lookAfterPages } from "./undelivered.ts";

/**
 * An alert's life is one reducer. `step` is given an alert as it stands, what happens to it, and what the world is like at
 * that moment; it gives back the alert as it is then, and what comes of it, in order. It reads and writes nothing but what
 * it is handed.
 *
 * - The alert (`Life`): whether it is open, acknowledged or resolved; what is timed of it; how far its ladder has come and
 *   whom it paged last; whether its news is held back, and whether anybody was told of it at all.
 * - What happens (`Happening`): it opens or is opened again, its time comes (`looked`), somebody takes it, gives it back,
 *   snoozes, assigns or resolves it or wants the next rung, it bursts, or what keeps it quiet has begun.
 * - The moment (`AlertMoment`): the time, the rule, who is on call and can be reached, what keeps it quiet.
 * - What comes of it (`AlertEffect`): lines of its history, and what is told and to whom.
 *
 * The live box (`happen`) writes the alert by its one UPDATE and then does the effects, in one transaction. What an alert
 * would do (`followAlert`: the simulator, *Next*, and "next" in every message) takes the same steps and only looks at the
 * effects. So the order in which things are decided is stated here alone.
 *
 * Not here: what ingest folds and what many alerts have in common (`fold.ts`, `many.ts`), which decide nothing of one alert.
 */

/** What happens to an alert. */
export type Happening =
  | { what: "opened" }
  | { what: "looked" }
  | {
      what: "acknowledged";
      by: string | { source: string };
      via?: string | undefined;
      until?: number | null | undefined;
    }
  | { what: "snoozed"; by: string; until: number }
  | { what: "unacknowledged"; by: string }
  | {
      what: "assigned";
      by: string;
      accounts: readonly string[];
      schedules: readonly string[];
      keep: boolean;
    }
  | { what: "escalated_now"; by: string }
  | { what: "resolved"; by: Resolver }
  /** It ended, and is the same trouble again. */
  | { what: "reopened"; counted: Counted }
  /** It is one with another that stood and was resolved for it. */
  | { what: "merged"; other: Life; counted: AlertColumns }
  /** Other trouble was counted into it that whoever has it didn't see: it opens again then. */
  | { what: "joined"; trouble: string; opensAt: number }
  /** Its rule was another before; it follows as of `since`, in Unix seconds, else as of now. */
  | { what: "ruled"; before: StoredRule; since?: number }
  | { what: "burst" }
  /** Its level rose; these people have ways that are only for what is so bad. */
  | { what: "worse"; from: number; people: readonly PagedPerson[] }
  /** A silence has begun that may take it. */
  | { what: "silenced" }
  /** Pages to these people are due while it is quiet. */
  | { what: "pages_held"; waiting: readonly string[] }
  /** Somebody whom it paged last, or who has it, was removed. */
  | { what: "left"; account: string }
  /** All pages of its last rung have failed. */
  | { what: "pages_failed" };

type Of<What extends Happening["what"]> = Extract<Happening, { what: What }>;

const steps: { [What in Happening["what"]]: (turn: Turn, of: Of<What>) => void } = {
  opened: (turn) => {
    if (!holdIfQuiet(turn, "opened")) effect(turn, { what: "opened", alert: turn.alert });
    const { due_at } = turn.alert;
    if (due_at !== null && due_at <= turn.moment.at) look(turn);
  },
  looked: look,
  acknowledged: take,
  snoozed: takeUntil,
  unacknowledged: handBack,
  assigned: assign,
  escalated_now: nextRungNow,
  resolved: (turn, { by }) => end(turn, by),
  reopened: bringBack,
  merged: takeOver,
  joined: join,
  ruled: followRule,
  burst: (turn) => {
    if (holdIfQuiet(turn, "renotify")) return;
    if (turn.alert.silenced_by !== null) tellWithHeld(turn);
    else renotify(turn, { why: "burst" });
  },
  worse: (turn, { from, people }) => {
    const quiet = turn.moment.quiet();
    const accounts = people.map(({ account }) => account);
    if (quiet !== null) hold(turn, { quiet, news: "page", also: oweBesides(turn, accounts) });
    else if (turn.alert.silenced_by !== null) {
      oweBesides(turn, accounts);
      tellWithHeld(turn);
    } else {
      const detail = { why: "worse", from, to: turn.alert.level, accounts };
      effect(turn, { what: "renotified", alert: turn.alert, detail, people });
    }
  },
  silenced: (turn) => void holdIfQuiet(turn, "nothing"),
  pages_held: (turn, { waiting }) => {
    const quiet = turn.moment.quiet();
    if (quiet !== null) hold(turn, { quiet, news: "page", also: oweBesides(turn, waiting) });
  },
  left: leave,
  pages_failed: (turn) => {
    const { escalation_level: level, page_accounts, step_at } = turn.alert;
    const { at } = turn.moment;
    const detail = { level, accounts: JSON.parse(page_accounts), why: "pages_failed" };
    effect(turn, { what: "line", kind: "unreachable", detail });
    if (step_at === null && !pageOthers(turn) && fallbackBefore(turn) === null)
      pageFallback(turn, "pages_failed");
    if (step_at !== null && step_at > at) set(turn, { step_at: at, due_at: at });
  },
};

/** Whether the alert is told again to whom it paged last, whoever that was and however long ago. */
const isToldAgain = ({ effects }: Turn): boolean =>
  !effects.some(({ what }) => what === "fallback") &&
  effects.some(
    (one) =>
      (one.what === "renotified" && one.people === undefined) ||
      (one.what === "escalated" && one.span.repeat),
  );

/** Of a whole row the alert and those of its effects are whole rows, too: a step only sets columns. */
export function step<Whole extends Life>(
  alert: Whole,
  of: Happening,
  moment: AlertMoment,
): { alert: Whole; effects: AlertEffect<Whole>[] } {
  const turn: Turn = { alert, effects: [], moment };
  (steps[of.what] as (turn: Turn, of: Happening) => void)(turn, of);
  if (isToldAgain(turn)) pageOthers(turn);
  lookAfterPages(turn, alert);
  return turn as { alert: Whole; effects: AlertEffect<Whole>[] } & Turn;
}
