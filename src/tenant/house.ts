import { z } from "zod";
import type { Health } from "./health.ts";
import type { RetentionLimits } from "./retention.ts";

/** What the program around a tenant knows and does for it. */
export interface House {
  /** Whether it is able to page. */
  health(): Health;
  readonly doctor: DoctorDesk;
  /** null: none are scheduled, so that there is no place for them. */
  readonly backups: BackupDesk | null;
  /** When it started, in Unix seconds. */
  readonly startedAt: number;
  /** What its flags say of how much is kept. */
  readonly keeping: RetentionLimits;
  load(): BoxLoad;
  held(): HeldNow;
}

/** What a box has to do right now. */
export interface BoxLoad {
  /** Events of the last hour by the minute, newest last. */
  minutes: number[];
  /** Of a hundred commits 99 took at most so many milliseconds; null: there was none. */
  commitMs: number | null;
  /** Deliveries that wait, and since when the oldest does. */
  waiting: number;
  oldestSeconds: number | null;
  /** Open pages and programs that are told what changes. */
  streams: number;
  /** Answered with 429 since the start; `shed`: events that the box could not take. */
  refused: number;
  shed: number;
}

/** What is there of what is kept for a time. Times are Unix seconds, null: there is none. */
export interface HeldNow {
  oldestLine: number | null;
  oldestEntry: number | null;
  /** What all of it has within the store, and the store's file. */
  bytes: number;
  storeBytes: number;
}

const finding = z.object({
  check: z.string(),
  state: z.enum(["ok", "note", "wrong"]).meta({ description: "A note is no fault." }),
  detail: z.string(),
  advice: z.string().meta({ description: "What to do about it; empty where nothing is." }),
});

/** What `box doctor` found, and when (Unix seconds). */
export interface Examined {
  at: number;
  findings: z.output<typeof finding>[];
}

export interface DoctorDesk {
  latest(): Examined | null;
  isRunning(): boolean;
  /** Why the last look came to nothing; null where it didn't. */
  failure(): string | null;
  /** Looks anew, unless it is looking. */
  look(): void;
}

export const doctorAnswer = z
  .object({
    at: z.int().nullable().meta({ description: "When it looked; null before it ever has." }),
    running: z.boolean(),
    failure: z.string().nullable().meta({ description: "Why the last look came to nothing." }),
    findings: z.array(finding),
  })
  .meta({ id: "Doctor" });

const backup = z.object({
  file: z.string(),
  taken_at: z.int(),
  proved_at: z.int(),
  size: z.int(),
});
export type BackupMade = z.output<typeof backup>;

export const backupsAnswer = z
  .object({
    scheduled: z
      .object({ hours: z.number(), keep: z.int() })
      .nullable()
      .meta({ description: "Null where the box was given no directory for them." }),
    last_backup: z.int().nullable().meta({ description: "When one was last proved." }),
    running: z.boolean(),
    failure: z.string().nullable().meta({ description: "Of the last try." }),
    backups: z.array(backup).meta({ description: "Newest first." }),
  })
  .meta({ id: "Backups" });
export type Backups = z.output<typeof backupsAnswer>;

export interface BackupDesk {
  readonly hours: number;
  readonly keep: number;
  list(): BackupMade[];
  isRunning(): boolean;
  failure(): string | null;
  /** Makes one now, unless one is being made. */
  make(): void;
}
