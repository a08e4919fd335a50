import type { PagedPerson } from "../../../out/paging/pages.ts";
import type { Reachable } from "../../../out/paging/reachable.ts";
import type { StoredRule } from "../../projects/rule.ts";
import type { SilencedBy } from "../../quiet/decide.ts";
import type { AlertRow } from "../alert.ts";
import type { AlertColumns } from "../apply.ts";
import type { LaterReport } from "../fold.ts";
import type { LadderRun, Span, Timers } from "../ladder.ts";
import type { StepRecipients } from "../reach.ts";
import { type TimedRow, timerColumns } from "../timers.ts";
import type { Undelivered } from "../undelivered.ts";

/** What a step is given and gives back; a turn is one step under way. */

/** The columns that an alert's life depends on. */
export type Life = TimedRow &
  Pick<AlertRow, "id" | "project_id" | "state" | "level" | "drill" | "due_at" | "updated_seq"> &
  Pick<AlertRow, "opened_at" | "acked_at" | "acked_by" | "resolved_at"> &
  Pick<AlertRow, "escalation_level" | "page_accounts" | "silenced_by" | "untold">;

/** What the world is like when it happens. Each part is looked up when it is asked for. */
export interface AlertMoment {
  at: number;
  /** The alert's rule as it is now; null once it is deleted. */
  rule: StoredRule | null;
  /** What keeps the alert quiet now; null: nothing. */
  quiet(): SilencedBy | null;
  readonly reach: StepRecipients;
  readonly reachable: Reachable;
  /** Who is paged where nobody else is; `isReached`: whether something reaches somebody. */
  fallback(isReached: (account: string) => boolean): readonly string[];
  /** Why the fallback was paged last since the alert paged somebody anew; null: it wasn't. */
  fallbackSince(): string | null;
  /** Where none of its pages has got through; null: one has, or there is none. */
  undelivered(): Undelivered | null;
  /** Whether something may change until an alert is looked at again for what didn't come about now. */
  readonly looksOn: boolean;
  /** The next `updated_seq`. */
  nextSeq(): number;
  /** Unix seconds: what was due before this met a box that was down. */
  upSince: number;
  /** What its sender said of it and isn't written yet. */
  later: LaterReport | null;
}

/** What an event that brings an alert back makes of its columns. */
export type Counted = AlertColumns & { expires_at: number | null };

/** Who or what resolves an alert. */
export type Resolver =
  /** A person; `via`: the kind of contact that they answered through. */
  | { accountId: string; via?: string | undefined }
  /** Its sender said so; the source's name. */
  | { source: string }
  | { reason: "quiet" | "stale" | "merged" | "drill" | "came"; detail?: Record<string, unknown> };

/** What would have been told now; "nothing" where there is no news, and an alert is only looked at. */
export type HeldNews = "opened" | "step" | "renotify" | "page" | "nothing";

/** What comes of a step beside the alert's columns, in order; `alert` as it stands then. */
export type AlertEffect<Whole extends Life = Life> =
  /** A line of its history. */
  | { what: "line"; kind: string; accountId?: string | null; detail?: Record<string, unknown> }
  /** `silenced`: since when nobody was told of it. */
  | { what: "opened"; alert: Whole; silenced?: number }
  /** `people`: who is paged in place of those whom it paged last. */
  | {
      what: "renotified";
      alert: Whole;
      detail: Record<string, unknown>;
      people?: readonly PagedPerson[];
    }
  | {
      what: "escalated";
      alert: Whole;
      /** Its opening is told in the same moment. */
      withOpening: boolean;
      span: Span;
      climb: LadderRun;
      late: Record<string, unknown>;
    }
  | { what: "fallback"; alert: Whole; accounts: readonly string[] }
  | { what: "assigned"; alert: Whole; accounts: readonly string[]; by: string }
  /** `isNews`: its history doesn't say so yet. */
  | { what: "held"; quiet: SilencedBy; news: HeldNews; also: readonly string[]; isNews: boolean }
  | { what: "released"; by: string | null }
  | {
      what: "acknowledged";
      alert: Whole;
      by: string | { source: string };
      via?: string | undefined;
    }
  | { what: "resolved"; alert: Whole; by: Resolver };

/** The alert as it has become so far, and what came of it. */
export interface Turn {
  alert: Life;
  readonly effects: AlertEffect[];
  readonly moment: AlertMoment;
}

export function set(turn: Turn, to: AlertColumns): void {
  turn.alert = { ...turn.alert, ...to };
}

/** Without its rule an alert's sender ends nothing by its word, which stays as it was said. */
export function setTimers(turn: Turn, timers: Timers, to: AlertColumns = {}): void {
  const expiresAt = turn.moment.rule === null ? null : timers.expiresAt;
  set(turn, { ...to, ...timerColumns({ ...timers, expiresAt }) });
}

export function effect(turn: Turn, one: AlertEffect): void {
  turn.effects.push(one);
}
