import * as z from "zod";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import { apartAnswer } from "./apart.ts";
import { labelsOf } from "./labels.ts";
import { titleOfAlert, titleParts } from "./title.ts";

export const alertState = z.enum(["open", "acknowledged", "resolved"], {
  error: "must be one of open, acknowledged, resolved",
});
export type AlertState = z.output<typeof alertState>;

/** An alert as the interface shows it (contract §13). */
export const alertAnswer = z
  .object({
    id: z.string(),
    project: z.string(),
    rule: z.string(),
    state: alertState,
    title: z.string().meta({
      description:
        "What people call it, in one line of at most 200 characters: its sender's title, else the first line of the last message, else the template.",
    }),
    title_parts: z.array(z.object({ text: z.string(), variable: z.boolean() })).meta({
      description: "The title in its fixed and variable parts.",
    }),
    template: z.string(),
    template_id: z.string(),
    level: z.int(),
    count: z.int(),
    first_seen: z.int(),
    last_seen: z.int(),
    opened_at: z.int().meta({ description: "When it was opened first." }),
    acked_at: z.int().nullable().meta({
      description: "Null if it has not been acknowledged since it opened.",
    }),
    acked_by: z.string().nullable().meta({
      description: "The account that has it; null also where its sender said so.",
    }),
    resolved_at: z.int().nullable().meta({ description: "Null until it is." }),
    last_message: z.string(),
    identifiers: z.record(z.string(), z.string()),
    labels: z.record(z.string(), z.string()).meta({
      description:
        "The keys of its events, each with its last value: at most 64, and 8 KiB of text. Those that the rule names come first.",
    }),
    varied: z.record(z.string(), z.array(z.string())).meta({
      description:
        "Labels whose value differed between its events, with the latest five values, the newest first. Of a label that had no room in `labels` no value is known: an empty list.",
    }),
    varied_more: z.array(z.string()).meta({
      description: "Those of `varied` that had other values, too.",
    }),
    apart: apartAnswer,
    investigate: z.boolean(),
    escalation_level: z.int(),
    page_accounts: z.array(z.string()),
    updated_seq: z.int(),
    dedup_key: z.string().nullable().meta({
      description: "The name that its sender gave it; null if the sender gave none.",
    }),
    instance: z.string().nullable().meta({
      description: "The sender's id of this occurrence; null if it gives none.",
    }),
    expires_at: z.int().nullable().meta({
      description:
        "Unix seconds: the alert resolves then unless its sender reports it again. Null: never.",
    }),
    silenced_by: z.string().nullable().meta({
      description:
        "What silences it now: a silence's id, or `alert:` and the id of the alert that it depends on. Null: nothing.",
    }),
    acknowledged_until: z.int().nullable().meta({
      description: "Unix seconds: the acknowledgement ends then. Null: it doesn't end.",
    }),
    details: z.string().nullable(),
    links: z.array(z.object({ href: z.string(), text: z.string() })),
    images: z.array(
      z.object({ src: z.string(), href: z.string().optional(), alt: z.string().optional() }),
    ),
    occurred_at: z.int().nullable().meta({ description: "By the sender's clock." }),
    drill: z.boolean().meta({
      description: "It is a drill (test alert).",
    }),
  })
  .meta({ id: "Alert" });
export type Alert = z.output<typeof alertAnswer>;

/** The same in a list that was asked for minutes, too. */
export const listedAlert = alertAnswer
  .extend({
    buckets: z.array(z.int()).optional().meta({
      description: "Events of a minute each, newest last; with `buckets`.",
    }),
  })
  .meta({ id: "ListedAlert" });

/** A row of the table, joined with its project's present name. */
export interface AlertRow {
  id: number;
  project_id: number;
  project: string;
  rule_id: number;
  rule: string;
  alert_key: string;
  state: AlertState;
  template_id: string;
  template: string;
  level: number;
  count: number;
  first_seen: number;
  last_seen: number;
  last_message: string;
  identifiers: string;
  investigate: number;
  escalation_level: number;
  page_accounts: string;
  updated_seq: number;
  opened_at: number;
  acked_at: number | null;
  /** An account; null also where its sender said that somebody has it. */
  acked_by: string | null;
  resolved_at: number | null;
  ladder_from: number;
  step: number;
  step_at: number | null;
  repeat_at: number | null;
  renotify_at: number | null;
  renotified: number;
  quiet_at: number | null;
  due_at: number | null;
  dedup_key: string | null;
  /** The source whose own names these are; null: the project's. */
  room: number | null;
  instance: string | null;
  expires_at: number | null;
  /** How long its sender's latest word was good for, seconds. */
  promised: number | null;
  /** JSON of what the sender sent beside the message. */
  extra: string | null;
  /** What holds its news back now: a silence's id, or `alert:` and an alert's. */
  silenced_by: string | null;
  held_until: number | null;
  /** 1 where nobody was told that it opened. */
  untold: number;
  wakes_at: number | null;
  /** When the fallback is paged unless a page of it has got through by then. */
  undelivered_at: number | null;
  /** The only source that its events came from; null: several, or it isn't known. */
  source: string | null;
  /** 1 where somebody tries whom it reaches. */
  drill: number;
  /** JSON of what its events say about themselves; null: nothing, or it isn't known. */
  labels: string | null;
  varied: string | null;
  varied_more: string | null;
  /** What its sender calls it; null where it doesn't. */
  title: string | null;
}

/** What is shown beside the message. */
type Extra = Pick<Alert, "details" | "links" | "images" | "occurred_at">;

export const NO_EXTRA: Extra = { details: null, links: [], images: [], occurred_at: null };

/**
 * Every read of alerts begins like this, so that a row always has the same columns. Not a join: this build
 * of SQLite plans a join anew whenever a value is bound, which costs twenty times the read itself.
 */
export const SELECT_ALERT =
  "SELECT a.*, (SELECT p.name FROM projects p WHERE p.id = a.project_id) AS project FROM alerts a";

/** What its row alone tells of it. */
export function factsOf(row: AlertRow): Omit<Alert, "apart"> {
  const title = titleOfAlert(row);
  return {
    id: String(row.id),
    project: row.project,
    rule: row.rule,
    state: row.state,
    title,
    title_parts: titleParts(title, row),
    template: row.template,
    template_id: row.template_id,
    level: row.level,
    count: row.count,
    first_seen: row.first_seen,
    last_seen: row.last_seen,
    opened_at: row.opened_at,
    acked_at: row.acked_at,
    acked_by: row.acked_by,
    resolved_at: row.resolved_at,
    last_message: row.last_message,
    identifiers: JSON.parse(row.identifiers) as Record<string, string>,
    ...labelsOf(row),
    investigate: row.investigate !== 0,
    escalation_level: row.escalation_level,
    page_accounts: JSON.parse(row.page_accounts) as string[],
    updated_seq: row.updated_seq,
    dedup_key: row.dedup_key,
    instance: row.instance,
    expires_at: row.expires_at,
    silenced_by: row.silenced_by,
    acknowledged_until: row.wakes_at,
    drill: row.drill !== 0,
    ...(row.extra === null ? NO_EXTRA : (JSON.parse(row.extra) as Extra)),
  };
}

/** null where there is none. */
export function findAlertRow(reader: Reader, id: number): AlertRow | null {
  return reader.sql<[id: number], AlertRow>(`${SELECT_ALERT} WHERE a.id = ?`).get(id) ?? null;
}

/** Throws 404. */
export function getAlertRow(reader: Reader, id: number): AlertRow {
  const row = findAlertRow(reader, id);
  if (row === null) throw notFound("alert");
  return row;
}

/** The row id of an alert's public id. Throws 404 for any text that is none. */
export function alertId(text: string): number {
  const id = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw notFound("alert");
  return id;
}

/**
 * The row id of an alert that something is to be tied to. Throws 422 unknown_alert where the project has no
 * such alert (contract §8).
 */
export function mustBeLive(reader: Reader, projectId: number, text: string): number {
  const id = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  const live =
    Number.isSafeInteger(id) &&
    reader
      .sql<[id: number, project: number]>("SELECT 1 FROM alerts WHERE id = ? AND project_id = ?")
      .get(id, projectId) !== undefined;
  if (live) return id;
  throw new ServiceError("unknown_alert", "The project has no such alert.", {
    details: [{ field: "/alert_id", reason: "unknown_alert", value: text }],
  });
}
