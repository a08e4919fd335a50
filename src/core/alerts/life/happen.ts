import { takeSequence } from "../../../ground/store/meta.ts";
import type { Tx } from "../../../ground/store/store.ts";
import type { Reachable } from "../../../out/paging/reachable.ts";
import type { StoredRule } from "../../projects/rule.ts";
import type { SilencedBy } from "../../quiet/decide.ts";
import type { AlertRow } from "../alert.ts";
import { noteAlert, write } from "../apply.ts";
import type { LaterReport } from "../fold.ts";
import { ruleBefore, takeLadderBefore } from "../followers.ts";
import { silencedIn } from "../hold.ts";
import { fallbackPeople, readFallbackPlaces } from "../nobody-reached.ts";
import { reachableIn } from "../personal.ts";
import { createReach, type StepRecipients, storedSeats } from "../reach.ts";
import { findRule } from "../rule-of.ts";
import { fallbackSince, type Undelivered, undeliveredOf } from "../undelivered.ts";
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
  return new Moment(tx, { row, known, rule, later, upSince });
}

/** A class, not an object with getters: V8 makes those old from the start, and all that they hold with them. */
class Moment implements AlertMoment {
  readonly at: number;
  readonly rule: StoredRule | null;
  readonly upSince: number;
  readonly later: LaterReport | null;
  readonly looksOn = true;
  readonly #tx: Tx;
  readonly #row: AlertRow;
  readonly #known: Known;
  #quiet: SilencedBy | null | undefined;
  #reach: StepRecipients | undefined;

  constructor(
    tx: Tx,
    of: Pick<AlertMoment, "rule" | "later" | "upSince"> & { row: AlertRow; known: Known },
  ) {
    this.at = tx.at;
    this.rule = of.rule;
    this.upSince = of.upSince;
    this.later = of.later;
    this.#tx = tx;
    this.#row = of.row;
    this.#known = of.known;
    this.#reach = of.known.reach;
  }

  /** Nothing that happens to an alert changes what silences look at. */
  quiet(): SilencedBy | null {
    if (this.#quiet === undefined)
      this.#quiet = this.#known.quiet
        ? this.#known.quiet()
        : silencedIn(this.#tx, this.#row, this.rule);
    return this.#quiet;
  }

  get reach(): StepRecipients {
    this.#reach ??= createReach(this.at, storedSeats(this.#tx));
    return this.#reach;
  }

  get reachable(): Reachable {
    return reachableIn(this.#tx);
  }

  fallback(isReached: (account: string) => boolean): readonly string[] {
    const tx = this.#tx;
    return fallbackPeople(readFallbackPlaces(tx), { at: this.at, isReached }, storedSeats(tx));
  }

  fallbackSince(): string | null {
    return fallbackSince(this.#tx, this.#row.id);
  }

  undelivered(): Undelivered | null {
    return undeliveredOf(this.#tx, this.#row, { reachable: this.reachable, now: this.at });
  }

  nextSeq(): number {
    return this.#known.nextSeq?.() ?? takeSequence(this.#tx);
  }
}
