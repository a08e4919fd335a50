/** Types of columns that are narrower than their SQL types. The schema uses them. */

export type Role = "owner" | "admin" | "member";

/** Where the alert names of a source's sender are unique. */
export type NameScope = "project" | "source";

export interface StoredSourceOptions {
  level_from_text?: boolean | undefined;
  logfmt?: boolean | undefined;
  sentry_pii?: boolean | undefined;
  mail_rules?:
    | string
    | {
        subject_contains: string;
        action?: "fire" | "resolve" | "acknowledge" | undefined;
        level?: number | undefined;
        dedup?: "subject-without-state" | "subject" | "none" | undefined;
        named_as?: string | undefined;
      }[]
    | undefined;
  mapping?: string | Record<string, unknown> | undefined;
}

export type ActionMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export type EntryType = "update" | "analysis" | "resolution";

export type ContactState = "unverified" | "verified" | "failing" | "off";

/** The times at which a schedule should have somebody on call. */
export type ScheduleCovers = "always" | "hours";

/** A time in which a person is away, Unix seconds. */
export interface AwaySpan {
  from: number;
  until: number;
  note: string;
}

/** A day with a name, `2026-12-25`. */
export interface Holiday {
  date: string;
  name: string;
}

/** How an ask for cover stands. */
export type AskState = "open" | "taken" | "declined" | "changed";
