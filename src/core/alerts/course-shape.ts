import type { Reachable } from "../../out/paging/reachable.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { SilencedBy } from "../quiet/decide.ts";
import type { Timers } from "./ladder.ts";
import type { Life } from "./life/turn.ts";
import type { FallbackPlaces } from "./nobody-reached.ts";
import type { OnCallLookup } from "./reach.ts";
import type { Undelivered } from "./undelivered.ts";

/** What is asked and answered where an alert is followed on a time that is thought of. Times are Unix seconds. */

/** What the course of an alert depends on, beside the alert. */
export interface SimulationContext {
  rule: StoredRule;
  level: number;
  seats: OnCallLookup;
  reachable: Reachable;
  readonly fallback: FallbackPlaces;
  /** What keeps it quiet then; null in its place: nothing ever does. */
  quietAt: ((at: number) => SilencedBy | null) | null;
}

export interface SimulationQuery {
  at: number;
  /** It is followed up to here. */
  until: number;
  /** At most so many rungs are told. */
  most: number;
  /** Whether it is asked what rings, too. */
  rings: boolean;
  silent: ReadonlySet<string>;
  /** Who acknowledges it, once, so long after the first page to them; null: nobody. */
  ack: { account: string; after_seconds: number; snooze_seconds?: number | undefined } | null;
  /** When it ends by itself and is the same trouble again, in order; left out: its trouble lasts. */
  breaks?: readonly Break[];
}

/** An alert is resolved from one time to the other, Unix seconds. */
export interface Break {
  from: number;
  until: number;
}

/** What an alert is when its course begins. */
export interface OpenAlertRow {
  alert: Life;
  /** Pages that wait for their time. */
  pages: readonly Ringing[];
  fallbackSince(): string | null;
  /** Where none of the pages that it has made has got through; null: one has. */
  undelivered(): Undelivered | null;
}

export interface Rung {
  at: number;
  /** Its number in its pass. */
  step: number;
  why: "step" | "repeat" | "nobody_reached_before" | "renotify" | "fallback";
  accounts: readonly string[];
  /** The steps that page them, counted through all passes; null: none of the ladder's. */
  span: { first: number; last: number } | null;
}

/** A person's phone, or a contact of theirs. */
export interface Ringing {
  at: number;
  account: string;
  /** null: a phone by the relay. */
  contactId: string | null;
}

export interface SimulationResult {
  rungs: Rung[];
  rings: Ringing[];
  /** When its news is held back, and by what. */
  held: { at: number; until: number; by: string; reason: string }[];
  /** When channels hear that it opened; null: they never do. */
  toldAt: number | null;
  /** Steps that have had their turn. */
  step: number;
  timers: Timers;
  ends: { at: number; how: "ack" | "top" | "horizon" };
}
