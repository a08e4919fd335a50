/** What columns hold that their SQL type doesn't say. The schema gives them these types. */

export type Role = "owner" | "admin" | "member";

/** Where the names that a source's sender gives its alerts hold. */
export type SourceRoom = "project" | "source";

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

/** When a schedule is to have somebody on call. */
export type ScheduleCovers = "always" | "hours";
