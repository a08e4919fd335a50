import type { Clock } from "../../ground/kit/clock.ts";
import type { RecordEnd } from "../../ground/store/record/record.ts";
import { batchAsker } from "../registry/postgres/asker.ts";
import type { Database } from "../registry/postgres/connect.ts";
import { batchFaults } from "../registry/postgres/database-faults.ts";
import type { DatabaseValue } from "../registry/postgres/line.ts";
import { newFirst, pageValues } from "./body.ts";
import { LIFE } from "./taking.ts";

/** Whose store it is: the tenant's id, the epoch, the process. */
export type Ours = readonly [id: string, epoch: number, run: string];

/** Asks of the database what many stores of a process ask at one time, by one statement for all of them. */
export type Together = ReturnType<typeof together>;

/** A commit of more pages is kept alone, so that small ones don't wait for it. */
export const MOST_PAGES = 64;
const MOST_STORES = 64;
/** Of the connections for tenants (hosted-records.ts), one is left for what is asked alone. */
const AT_ONCE = 3;
/** Shorter than what nobody hears anything (`createKeeper`), so that a lost connection is replaced before. */
export const KEEP_MS = 4_000;
/** The first that renews its life waits so long for others: those in step come with it. */
const COMPANY_MS = 20;

/** Pages that may not be full yet, of so many. */
export const GROWING = (count: string) => `p.page > ${count} - 16 AND p.page <= ${count}`;

const OURS = "s.tenant_id = a.id AND s.epoch = a.epoch AND s.run = a.run";

/** One whose row another statement has is passed over: nobody waits for it. */
const RENEW = `
  WITH mine AS (
    SELECT s.tenant_id FROM tenant_stores s
      JOIN unnest($1::text[], $2::bigint[], $3::text[]) AS a(id, epoch, run) ON ${OURS} FOR UPDATE OF s SKIP LOCKED)
  UPDATE tenant_stores s SET alive_until = ${LIFE} FROM mine WHERE s.tenant_id = mine.tenant_id
    RETURNING s.tenant_id AS id, s.seq`;

/** As `KEEP` does it for one store (postgres-record.ts), for stores that don't get shorter. */
const KEEP = `
  WITH free AS (
    SELECT s.tenant_id, s.page_count AS was, a.seq, a.pages, a.sum FROM tenant_stores s
      JOIN unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::bigint[])
        AS a(id, epoch, run, before, seq, pages, sum) ON ${OURS} AND s.seq IN (a.before, a.seq) FOR UPDATE OF s SKIP LOCKED),
  mine AS (
    UPDATE tenant_stores s SET seq = free.seq, page_count = free.pages, page_sum = free.sum, alive_until = ${LIFE}
      FROM free WHERE s.tenant_id = free.tenant_id RETURNING s.tenant_id),
  latest AS MATERIALIZED (
    SELECT count(p.hash) FROM free JOIN tenant_pages p ON p.tenant_id = free.tenant_id AND ${GROWING("free.was")}
      WHERE free.was < free.pages),
  put AS (
    INSERT INTO tenant_pages (tenant_id, page, hash, body)
      SELECT a.id, a.page, a.hash, substring($13::bytea FROM a.start FOR a.length) FROM latest,
        unnest($8::text[], $9::int[], $10::bigint[], $11::int[], $12::int[]) WITH ORDINALITY AS a(id, page, hash, start, length, nth)
        JOIN mine ON mine.tenant_id = a.id ORDER BY a.nth
      ON CONFLICT (tenant_id, page) DO UPDATE SET hash = excluded.hash, body = excluded.body)
  SELECT tenant_id AS id FROM mine`;

interface Commit {
  ours: Ours;
  end: RecordEnd;
  before: number;
  pages: ReturnType<typeof pageValues>;
}

export function together(database: Pick<Database, "query">, clock: Clock) {
  const ask = <Row extends object>(sql: string, values: readonly DatabaseValue[]) =>
    database.query<Row>(sql, values, { withinMs: KEEP_MS });
  const renew = batchAsker<Ours, number | null>({
    async answer(all) {
      const rows = await ask<{ id: string; seq: number }>(RENEW, columnsOf(all));
      const seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
      return all.map(([id]) => seqs.get(id) ?? null);
    },
    key: ([id]) => id,
    mayDiffer: () => false,
    full: batchFaults.full,
    company: { clock, ms: COMPANY_MS },
  });
  const keep = batchAsker<Commit, boolean>({
    async answer(all) {
      const rows = await ask<{ id: string }>(KEEP, valuesOf(all));
      const kept = new Set(rows.map(({ id }) => id));
      return all.map(({ ours: [id] }) => kept.has(id));
    },
    key: ({ ours: [id] }) => id,
    ...batchFaults,
    most: MOST_STORES,
    atOnce: AT_ONCE,
  });
  return {
    /** Renews a store's life: the number of its latest commit. null: ask alone. */
    renew,
    /** Keeps a commit of a store whose latest one is `before`. false: nothing was kept, ask alone. */
    keep: (ours: Ours, end: RecordEnd, before: number) =>
      keep({ ours, end, before, pages: pageValues(newFirst(end.pages)) }),
  };
}

const columnsOf = (all: readonly Ours[]) => [
  all.map(([id]) => id),
  all.map(([, epoch]) => epoch),
  all.map(([, , run]) => run),
];

function valuesOf(all: readonly Commit[]): DatabaseValue[] {
  let at = 0;
  const starts = all.flatMap(({ pages }) => {
    const from = at;
    at += pages.bodies.length;
    return pages.starts.map((start) => from + start);
  });
  return [
    ...columnsOf(all.map(({ ours }) => ours)),
    all.map(({ before }) => before),
    all.map(({ end }) => end.seq),
    all.map(({ end }) => end.pageCount),
    all.map(({ end }) => String(end.sum)),
    all.flatMap(({ ours: [id], pages }) => pages.numbers.map(() => id)),
    all.flatMap(({ pages }) => pages.numbers),
    all.flatMap(({ pages }) => pages.hashes),
    starts,
    all.flatMap(({ pages }) => pages.lengths),
    Buffer.concat(all.map(({ pages }) => pages.bodies)),
  ];
}
