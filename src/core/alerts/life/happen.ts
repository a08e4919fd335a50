import { takeSequence } from "../../../ground/store/meta.ts";
import type { Tx } from "../../../ground/store/store.ts";
import type { SilencedBy } from "../../quiet/decide.ts";
import type { AlertRow } from "../alert.ts";
import { noteAlert, write } from "../apply.ts";
import { ruleBefore, takeLadderBefore } from "../followers.ts";
import { silencedIn } from "../hold.ts";
import { fallbackPeople, readFallbackPlaces } from "../nobody-reached.ts";
import { reachableIn } from "../personal.ts";
import { createReach, storedSeats } from "../reach.ts";
import { findRule } from "../rule-of.ts";
import { perform } from "./perform.ts";
import { type Happening, step } from "./step.ts";
import type { AlertEffect, AlertMoment } from "./turn.ts";

/** What is known of the moment already, where many alerts are looked at in it. */
type Known = Partial<
  Pick<AlertMoment, "rule" | "quiet" | "reach" | "nextSeq" | "upSince" | "later">
>;

const SEEN = ["state", "silenced_by", "escalation_level", "page_accounts"] as const;

/**
 * It happens: the alert, its history and its pages are written with the transaction. `row` is the alert as it was read in it;
 * it comes back as it is then.
 */
export function happen(tx: Tx, row: AlertRow, of: Happening, known: Known = {}): AlertRow {
  const moment = momentOf(tx, row, known);
  const { alert, effects } = stepFollowing(tx, { row, of, moment });
  const after = write(tx, row, alert);
  for (const effect of effects) perform(tx, after, effect, moment);
  if (after.due_at !== null && after.due_at !== row.due_at)
    tx.note({ topic: "due", at: after.due_at });
  // Whoever watches alerts sees its state, whom it paged last, and the mark of what is held back.
  if (SEEN.some((column) => after[column] !== row[column])) noteAlert(tx, after, row.state);
  return after;
}

/**
 * Where its rule's ladder has changed and the alert stands on the earlier one, it follows that first, as of the change: what
 * has come due meanwhile, with the box off say, was missed as any step is. It is due since the change.
 */
function stepFollowing(
  tx: Tx,
  { row, of, moment }: { row: AlertRow; of: Happening; moment: AlertMoment },
): { alert: AlertRow; effects: AlertEffect<AlertRow>[] } {
  const before = takeLadderBefore(tx, row.id);
  const { rule, at } = moment;
  if (before === null) return step(row, of, moment);
  const since = Math.min(row.due_at ?? at, at);
  if (of.what === "ruled")
    return step(row, { ...of, before: ruleBefore(of.before, before), since }, moment);
  if (rule === null) return step(row, of, moment);
  const first = step(row, { what: "ruled", before: ruleBefore(rule, before), since }, moment);
  const then = step(first.alert, of, moment);
  return { alert: then.alert, effects: [...first.effects, ...then.effects] };
}

function momentOf(tx: Tx, row: AlertRow, known: Known): AlertMoment {
  const { rule = findRule(tx, row.rule_id), later = null, upSince = tx.at } = known;
  const quietNow = known.quiet ?? (() => silencedIn(tx, row, rule));
  let quiet: SilencedBy | null | undefined;
  let { reach } = known;
  return {
    at: tx.at,
    rule,
    // Nothing that happens to an alert changes what silences look at.
    quiet() {
      if (quiet === undefined) quiet = quietNow();
      return quiet;
    },
    get reach() {
      reach ??= createReach(tx.at, storedSeats(tx));
      return reach;
    },
    get reachable() {
      return reachableIn(tx);
    },
    fallback: () => fallbackPeople(readFallbackPlaces(tx), tx.at, storedSeats(tx)),
    nextSeq: known.nextSeq ?? (() => takeSequence(tx, "updated_seq")),
    upSince,
    later,
  };
}
