import { z } from "zod";
import { ServiceError } from "../kit/errors.ts";
import { list, text } from "../kit/fields.ts";
import type { SqlValue } from "../store/database.ts";
import { rowsWritten } from "../store/rows-written.ts";
import type { Reader, Store, Tx } from "../store/store.ts";
import { acknowledge } from "./acknowledge.ts";
import { type AlertState, alertId, alertState, getAlertRow } from "./alert.ts";
import { resolve } from "./resolve.ts";

/** One verb on many alerts: on those that are named, or on all that a query finds. */

/** Ids in one request. */
const MOST_IDS = 200;

const verb = z.enum(["acknowledge", "ack", "resolve"], {
  error: "must be one of acknowledge, ack, resolve",
});

export const bulkWrite = z
  .strictObject({
    ids: list(text(20, 1), MOST_IDS).min(1).optional(),
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
  })
  .refine(({ ids, where }) => (ids === undefined) !== (where === undefined), {
    error: "give ids or where, one of the two",
  })
  .meta({
    id: "BulkWrite",
    examples: [
      { ids: ["130", "131"], verb: "acknowledge" },
      { where: { project: "shop", rule: "errors", state: "open" }, verb: "resolve" },
    ],
  });

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
      failed: z.int().meta({ description: "Ids that no alert has." }),
    }),
  })
  .meta({ id: "BulkAnswer" });
export type BulkAnswer = z.output<typeof bulkAnswer>;

/** Whom the verb is for, and who says it. */
export interface BulkVerb {
  verb: z.output<typeof verb>;
  accountId: string;
  /** The kind of contact that they answered through; absent where they used the interface. */
  via?: string;
}

/** Alerts of one transaction, and rows that it may make before the rest goes into the next one. */
const SLICE = { alerts: 50, rows: 2_000 };

/** Alerts that a query may find: unresolved ones of the project, an index holds each combination. */
export interface BulkQuery {
  projectId: number;
  rule?: string | undefined;
  state?: "open" | "acknowledged" | undefined;
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
  while (done.length < ids.length) {
    const rest = ids.slice(done.length, done.length + SLICE.alerts);
    done.push(...store.write((tx) => slice(tx, rest, (id) => one(tx, id, what))));
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
  for (let after = 0; ; ) {
    const done = store.write((tx) => {
      const ids = found(tx, { ...query, states: statesOf(query, what), after, until });
      return slice(tx, ids, (id) => one(tx, String(id), what));
    });
    for (const { changed } of done) counts[changed ? "changed" : "unchanged"]++;
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

function one(
  tx: Tx,
  id: string,
  { verb, accountId, via }: BulkVerb,
): BulkResult & { changed: boolean } {
  try {
    const row = alertId(id);
    const { state: before } = getAlertRow(tx, row);
    const { state } =
      verb === "resolve"
        ? resolve(tx, row, { accountId, via })
        : acknowledge(tx, row, accountId, via);
    return { id, ok: true, state, code: null, changed: state !== before };
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    return { id, ok: false, state: null, code: error.code, changed: false };
  }
}

/** Only what the verb can change. */
function statesOf({ state }: BulkQuery, { verb }: BulkVerb): AlertState[] {
  if (state !== undefined) return [state];
  return verb === "resolve" ? ["open", "acknowledged"] : ["open"];
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

/** Lets events and pages through between two slices. */
function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
