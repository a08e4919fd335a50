import * as z from "zod";
import { ServiceError } from "../../ground/kit/errors.ts";
import { list, text, time } from "../../ground/kit/fields.ts";
import { othersFirst } from "../../ground/kit/slices.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import { rowsWritten } from "../../ground/store/rows-written.ts";
import type { Reader, Store, Tx } from "../../ground/store/store.ts";
import type { LabelCondition } from "../projects/condition.ts";
import { type AlertRow, type AlertState, alertId, alertState, getAlertRow } from "./alert.ts";
import { labelsApartOfMany } from "./narrowest.ts";
import { silenceAlert } from "./silence-alert.ts";
import { acknowledge, resolve, snooze, unacknowledge } from "./verbs.ts";

/** One verb on many alerts: on those that are named, or on all that a query finds. */

/** Ids in one request. */
const MOST_IDS = 200;

const verb = z.enum(["acknowledge", "ack", "unack", "resolve", "silence"], {
  error: "must be one of acknowledge, ack, unack, resolve, silence",
});

const ids = list(text(20, 1), MOST_IDS).min(1);

/** Alerts of which silences would be made. */
export const bulkNamed = z.strictObject({ ids });

export const bulkWrite = z
  .strictObject({
    ids: ids.optional(),
    where: z
      .strictObject({
        project: text(128, 1),
        rule: text(200).optional(),
        state: alertState.extract(["open", "acknowledged"]).optional(),
      })
      .optional()
      .meta({
        description:
          "Every unresolved alert of the project, or of its rule, or in this state, as of when the request came.",
      }),
    verb: verb.meta({ description: "ack is short for acknowledge." }),
    until: time
      .optional()
      .describe(
        "silence: until then, at most 30 days. ack: open again then, as by a snooze, at most 7 days.",
      ),
    reason: text(1000, 1).optional().describe("silence: why."),
  })
  .refine(({ ids, where }) => (ids === undefined) !== (where === undefined), {
    error: "give either ids or where",
  })
  .refine(
    ({ verb, until, reason }) =>
      verb !== "silence" || (until !== undefined && reason !== undefined),
    { error: "silence needs until and reason" },
  )
  .refine(({ verb, until }) => until === undefined || !["unack", "resolve"].includes(verb), {
    error: "can be used only with ack and silence",
    path: ["until"],
  })
  .refine(({ verb, reason }) => reason === undefined || verb === "silence", {
    error: "can be used only with silence",
    path: ["reason"],
  })
  .meta({
    id: "BulkWrite",
    examples: [
      { ids: ["130", "131"], verb: "acknowledge" },
      { where: { project: "shop", rule: "errors", state: "open" }, verb: "resolve" },
      { ids: ["130"], verb: "silence", until: 1_764_000_000, reason: "deploy 41" },
    ],
  });

type BulkWrite = z.output<typeof bulkWrite>;

/** What became of one alert that was named. */
const bulkResult = z.object({
  id: z.string(),
  ok: z.boolean(),
  /** As it is now; null where there is none. */
  state: alertState.nullable(),
  /** The error's code, where it isn't ok. */
  code: z.string().nullable(),
});
type BulkResult = z.output<typeof bulkResult>;

export const bulkAnswer = z
  .object({
    results: z.array(bulkResult).meta({
      description: "One for each id, in the order of the request; empty for a query.",
    }),
    counts: z.object({
      changed: z.int().meta({ description: "They are now as the verb says." }),
      unchanged: z.int().meta({ description: "They were so before, or are resolved." }),
      failed: z.int().meta({
        description: "Ids that no alert has, and alerts that the verb is refused for.",
      }),
    }),
  })
  .meta({ id: "BulkAnswer" });
export type BulkAnswer = z.output<typeof bulkAnswer>;

/** Whom the verb is for, and who says it. */
interface BulkVerb extends Pick<BulkWrite, "verb" | "until" | "reason"> {
  accountId: string;
  /** The kind of contact that they answered through; absent where they used the interface. */
  via?: string;
  /** It was pressed: on a page, by a link or a button, where a tap may come twice. */
  pressed?: true;
}

/** With what it remembers from one alert to the next. */
interface Doing extends BulkVerb {
  labelsApart: (reader: Reader, row: AlertRow) => LabelCondition[];
}

/** Alerts of one transaction, and rows that it may make before the rest goes into the next one. */
const SLICE = { alerts: 50, rows: 2_000 };

/** Alerts that a query may find: unresolved ones of the project, an index holds each combination. */
interface BulkQuery extends Omit<NonNullable<BulkWrite["where"]>, "project"> {
  projectId: number;
}

/**
 * Does the verb to each of these alerts, in slices of a transaction with other work let in between. An id that no
 * alert has is an answer like any other. What a slice did stays done where a later one can't be written, which throws.
 */
export async function bulkByIds(
  store: Store,
  ids: readonly string[],
  what: BulkVerb,
): Promise<BulkAnswer> {
  const counts = { changed: 0, unchanged: 0, failed: 0 };
  const results = (await changeEach(store, ids, what)).map(({ changed, ...result }) => {
    counts[!result.ok ? "failed" : changed ? "changed" : "unchanged"]++;
    return result;
  });
  return { results, counts };
}

/** As `bulkByIds`: what became of each, and whether this made it so. */
export async function changeEach(
  store: Store,
  ids: readonly string[],
  what: BulkVerb,
): Promise<(BulkResult & { changed: boolean })[]> {
  const done: (BulkResult & { changed: boolean })[] = [];
  const doing = { ...what, labelsApart: labelsApartOfMany() };
  while (done.length < ids.length) {
    const rest = ids.slice(done.length, done.length + SLICE.alerts);
    done.push(...store.write((tx) => slice(tx, rest, (id) => one(tx, id, doing))));
    await othersFirst();
  }
  return done;
}

/** The same for all that the query finds and that were there when it was asked. */
export async function bulkByQuery(
  store: Store,
  query: BulkQuery,
  what: BulkVerb,
): Promise<BulkAnswer> {
  const counts = { changed: 0, unchanged: 0, failed: 0 };
  const until = newestId(store);
  const doing = { ...what, labelsApart: labelsApartOfMany() };
  for (let after = 0; ; ) {
    const done = store.write((tx) => {
      const ids = found(tx, { ...query, states: statesOf(query, what), after, until });
      return slice(tx, ids, (id) => one(tx, String(id), doing));
    });
    for (const { ok, changed } of done)
      counts[!ok ? "failed" : changed ? "changed" : "unchanged"]++;
    const last = done.at(-1);
    if (last === undefined) return { results: [], counts };
    after = Number(last.id);
    await othersFirst();
  }
}

/** What `change` made of the first ones: as many as one transaction should hold. */
function slice<T, R>(tx: Tx, items: readonly T[], change: (item: T) => R): R[] {
  const before = rowsWritten(tx);
  const done: R[] = [];
  for (const item of items) {
    done.push(change(item));
    if (rowsWritten(tx) - before > SLICE.rows) break;
  }
  return done;
}

function one(tx: Tx, id: string, what: Doing): BulkResult & { changed: boolean } {
  try {
    const row = getAlertRow(tx, alertId(id));
    const changed = act(tx, row, what);
    const { state } = getAlertRow(tx, row.id);
    return { id, ok: true, state, code: null, changed };
  } catch (error) {
    if (!(error instanceof ServiceError && REFUSALS.includes(error.code))) throw error;
    const state = error.code === "not_found" ? null : getAlertRow(tx, alertId(id)).state;
    return { id, ok: false, state, code: error.code, changed: false };
  }
}

/** What is one alert's own matter; thrown before anything of it is written. */
const REFUSALS: readonly string[] = [
  "not_found",
  "alert_resolved",
  "too_many",
  "just_acknowledged",
];

/** Whether it made a difference. */
function act(
  tx: Tx,
  row: AlertRow,
  { verb, accountId, via, pressed, until, reason = "", labelsApart }: Doing,
): boolean {
  const { id, state, wakes_at } = row;
  if (verb === "silence") {
    const labels = labelsApart(tx, row);
    return silenceAlert(tx, id, { until: until ?? 0, reason, accountId, labels }) !== null;
  }
  if (verb === "unack") return unacknowledge(tx, id, accountId).state !== state;
  if (verb === "resolve" && pressed) mustNotBeSecondTap(row, accountId, tx.at);
  if (verb === "resolve") return resolve(tx, id, { accountId, via }).state !== state;
  if (until === undefined) return acknowledge(tx, id, accountId, via).state !== state;
  return snooze(tx, id, { until, accountId }).wakes_at !== wakes_at;
}

/** A second press so soon after one's own acknowledgement was meant for that. */
const SECOND_TAP_SECONDS = 2;

function mustNotBeSecondTap({ state, acked_by, acked_at }: AlertRow, by: string, at: number): void {
  if (state !== "acknowledged" || acked_by !== by || acked_at === null) return;
  if (at - acked_at < SECOND_TAP_SECONDS && at >= acked_at)
    throw new ServiceError(
      "just_acknowledged",
      "You acknowledged it a moment ago: to resolve it, press again.",
    );
}

/** Only what the verb can change. */
function statesOf({ state }: BulkQuery, { verb, until }: BulkVerb): AlertState[] {
  if (state !== undefined) return [state];
  if (verb === "unack") return ["acknowledged"];
  const isOfOpen = verb !== "resolve" && verb !== "silence" && until === undefined;
  return isOfOpen ? ["open"] : ["open", "acknowledged"];
}

function newestId(reader: Reader): number {
  return reader.sql<[], number | null>("SELECT max(id) FROM alerts").pluck().get() ?? 0;
}

/** The next ids by an index of their own for each state; what was changed is found no more. */
function found(
  tx: Tx,
  query: BulkQuery & { states: readonly AlertState[]; after: number; until: number },
): number[] {
  const { projectId, rule, states, after, until } = query;
  const byRule = rule === undefined ? "" : "AND rule = ?";
  const own = rule === undefined ? [projectId] : [projectId, rule];
  const text = `SELECT id FROM alerts WHERE project_id = ? ${byRule} AND state = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?`;
  const ids = states.flatMap((state) =>
    tx
      .sql<SqlValue[], number>(text)
      .pluck()
      .all(...own, state, after, until, SLICE.alerts),
  );
  return ids.sort((a, b) => a - b).slice(0, SLICE.alerts);
}
