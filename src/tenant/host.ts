import * as z from "zod";
import type { LongTurn } from "../ground/kit/turns.ts";
import { type BackupMade, backupMade } from "../records/backup/scheduled.ts";
import type { Health } from "./health.ts";
import type { RetentionLimits } from "./retention.ts";

/** What the program around a tenant does for it. */
export interface TenantHost {
  /** Whether the box can page. */
  health(): Health;
  readonly doctor: DoctorService;
  /** null where no backups are scheduled, and so there is no directory for them. */
  readonly backups: BackupService | null;
  /** Unix seconds of its start. */
  readonly startedAt: number;
  /** Retention, as set by flags. */
  readonly keeping: RetentionLimits;
  load(): BoxLoad;
  held(): HeldNow;
}

/** The box's present load. */
export interface BoxLoad {
  /** Events of the last hour by the minute, newest last. */
  minutes: number[];
  /** The 99th percentile of commit times in milliseconds; null: there were no commits. */
  commitMs: number | null;
  /** The longest turn of the event loop in the last hour; null: none was long. */
  longestTurn: LongTurn | null;
  /** Deliveries that wait, and the age of the oldest in seconds. */
  waiting: number;
  oldestSeconds: number | null;
  /** Web pages and programs that listen for changes. */
  streams: number;
  /** Requests answered with 429 since the start. `shed`: events that the box couldn't accept. */
  refused: number;
  shed: number;
}

/** What is stored. The oldest rows in Unix seconds; null: there are none. */
export interface HeldNow {
  oldestLine: number | null;
  oldestEntry: number | null;
  /** The data's bytes, and those of the store's file. */
  bytes: number;
  storeBytes: number;
}

const finding = z.object({
  check: z.string(),
  state: z.enum(["ok", "note", "wrong"]).meta({ description: "A note is no fault." }),
  detail: z.string(),
  advice: z.string().meta({ description: "What to do about it; empty where nothing is." }),
});

/** The findings of `box doctor`, and their time (Unix seconds). */
export interface Examined {
  at: number;
  findings: z.output<typeof finding>[];
}

export interface DoctorService {
  latest(): Examined | null;
  isRunning(): boolean;
  /** The error of the last run; null where it succeeded. */
  failure(): string | null;
  /** Runs the doctor unless it is running. */
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

export const backupsAnswer = z
  .object({
    scheduled: z
      .object({ hours: z.number(), keep: z.int() })
      .nullable()
      .meta({ description: "Null where the box was given no directory for them." }),
    last_backup: z.int().nullable().meta({ description: "When one was last proved." }),
    running: z.boolean(),
    failure: z.string().nullable().meta({ description: "Of the last try." }),
    backups: z.array(backupMade).meta({ description: "Newest first." }),
  })
  .meta({ id: "Backups" });
export type Backups = z.output<typeof backupsAnswer>;

export interface BackupService {
  readonly hours: number;
  readonly keep: number;
  list(): BackupMade[];
  isRunning(): boolean;
  failure(): string | null;
  /** Makes a backup now, unless one is being made. */
  make(): void;
}
