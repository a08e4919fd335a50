import { type PageRecord, type RecordEnd, RecordFault } from "../../ground/store/record/record.ts";
import type { Database, DatabaseTx } from "../registry/postgres/connect.ts";
import { HASHES, hashesIn, imageOf, newFirst, pageValues } from "./body.ts";
import { LIFE, type Owned, type Taking, takeStore } from "./taking.ts";
import { GROWING, KEEP_MS, MOST_PAGES, type Ours, type Together } from "./together.ts";

const MEND_MS = 30_000;
const MEND_PAGE_MS = 20;
const OURS = "tenant_id = $1 AND epoch = $2 AND run = $3";

/** Pages from the values after `n`. */
const pagesOf = (n: number) =>
  `unnest($${n}::int[], $${n + 1}::bigint[], $${n + 2}::int[], $${n + 3}::int[]) AS a(page, hash, start, length)`;
const PUT = (n: number, from = "") =>
  `INSERT INTO tenant_pages (tenant_id, page, hash, body)
     SELECT $1, a.page, a.hash, substring($${n + 4}::bytea FROM a.start FOR a.length) FROM ${from}${pagesOf(n)}
     ON CONFLICT (tenant_id, page) DO UPDATE SET hash = excluded.hash, body = excluded.body`;

/** How many machines stand by. */
const OTHERS = "(SELECT count(*)::int FROM nodes WHERE alive_until > clock_timestamp())";

/**
 * Fence and pages are one statement: what is written under another's epoch is nothing. `before`, `pages`: for machines
 * that stand by, where there are some. `latest`: where the store grows, its last pages are read before new ones are
 * inserted, because PostgreSQL removes a block's dead rows when it is read. Unread, the block would count as full from
 * then on, and stay half empty. Several grow at a time: those of tables and indexes.
 */
const KEEP = (only: string, before: string, pages: string, others = OTHERS) => `
  WITH mine AS (
    UPDATE tenant_stores SET seq = $4, page_count = $5, page_sum = $6, alive_until = ${LIFE}
     WHERE ${OURS} ${only} RETURNING tenant_id),
  cut AS (DELETE FROM tenant_pages p USING mine WHERE p.tenant_id = mine.tenant_id AND p.page > $5),
  latest AS MATERIALIZED (
    SELECT count(p.hash) FROM tenant_stores s JOIN tenant_pages p USING (tenant_id)
      WHERE s.tenant_id = $1 AND s.page_count < $5 AND ${GROWING("s.page_count")}),
  put AS (${PUT(7, "mine, latest, ")}),
  shipped AS (
    INSERT INTO tenant_ships (tenant_id, seq, before, pages, made_at)
      SELECT $1, $4, ${before}, ${pages}, clock_timestamp() FROM mine WHERE ${others} > 0
      ON CONFLICT (tenant_id, seq) DO NOTHING)
  SELECT count(*)::int AS n, ${others} AS others FROM mine`;
const PUT_SLICE = PUT(2);

/** The statements that say how many machines stand by. */
const statements = (others?: string) => ({
  keepNext: KEEP("AND seq IN ($12, $4)", "$12", "$7", others),
  keepAll: KEEP("", "0", "NULL", others),
  renew: `UPDATE tenant_stores SET alive_until = ${LIFE}, key_id = $4 WHERE ${OURS} RETURNING seq, ${others ?? OTHERS} AS others`,
});
const ofOne = statements();
/** Of many stores no machine keeps a copy. */
const ofMany = statements("0");
const LEAVE = `
  WITH mine AS (
    UPDATE tenant_stores SET alive_until = clock_timestamp(), clean = $5 WHERE ${OURS} RETURNING tenant_id)
  UPDATE tenants t SET next_due_ms = CASE
      WHEN EXISTS (SELECT 1 FROM tenant_handed h WHERE h.tenant_id = t.id) THEN 0 ELSE $4::bigint END
    FROM mine WHERE t.id = mine.tenant_id AND $4::bigint IS NOT NULL`;

interface PostgresRecordOptions extends Omit<Taking, "tenantId" | "found"> {
  database: Database;
  /** What the store was found to be, asked when it is taken. */
  found(): Taking["found"];
  /** Called with each answer: whether other machines stand by, which may take the store. */
  onOthers(areThere: boolean): void;
  /** Asked when the store is taken. */
  tenantId(): string;
  /** The id of the key for its secrets. */
  keyId(): string | null;
  /** Renews its life, and keeps its small commits, with those of other stores. Default: alone. */
  together?: Together;
  /** When it has to be opened again, in milliseconds, asked when it is left. Default: nobody asks. */
  dueAt?(): number | null;
}

/** A store's pages on PostgreSQL. */
export function postgresRecord(
  options: PostgresRecordOptions,
): Omit<PageRecord, "take"> & { take(): Promise<Owned> } {
  const { database, isOneOfMany } = options;
  const sql = isOneOfMany ? ofMany : ofOne;
  /** For what takes long: by the others come the commits and lives of all stores. */
  const slow = isOneOfMany ? database.leases : database;
  let taken: Owned | null = null;
  let latest = 0;
  /** How many pages it had when it was kept last; Infinity: that isn't known. */
  let keptPages = Number.POSITIVE_INFINITY;
  /** What it was when its pages were listed. */
  let listed = 0;
  const ours = (): Ours => {
    if (taken === null) throw new Error("the store wasn't taken");
    return [options.tenantId(), taken.epoch, options.run];
  };
  const isKeptTogether = async (end: RecordEnd) =>
    options.together !== undefined &&
    end.pages.length <= MOST_PAGES &&
    end.pageCount >= keptPages &&
    (await options.together.keep(ours(), end, latest));
  const valuesAt = ({ pages, seq, pageCount, sum }: RecordEnd) => {
    const { numbers, hashes, starts, lengths, bodies } = pageValues(newFirst(pages));
    return [...ours(), seq, pageCount, String(sum), numbers, hashes, starts, lengths, bodies];
  };
  /** Why nothing was written: false where it is still ours, and not what was kept last. */
  const explained = async (asker: Pick<DatabaseTx, "query">): Promise<false> => {
    const [id, epoch, run] = ours();
    const [row] = await asker.query<{ epoch: number; run: string; node: string }>(
      "SELECT epoch, run, node FROM tenant_stores WHERE tenant_id = $1",
      [id],
    );
    if (row === undefined || row.epoch < epoch) throw setBack();
    if (row.epoch === epoch && row.run === run) return false;
    throw new RecordFault(
      "taken",
      isOneOfMany
        ? `Node ${row.node} has taken this tenant over.`
        : `Node ${row.node} has taken this box over: this process is not its owner any more, and ends.`,
    );
  };

  return {
    async take() {
      const [tenantId, found] = [options.tenantId(), options.found()];
      taken ??= await takeStore(database, { ...options, tenantId, found });
      latest = Math.max(latest, taken.seq);
      return taken;
    },
    async renew() {
      const seq = await options.together?.renew(ours());
      if (typeof seq === "number") return seq === latest;
      const values = [...ours(), options.keyId()];
      const [row] = await database.query<Renewed>(sql.renew, values, { withinMs: KEEP_MS });
      if (row === undefined) return explained(database);
      options.onOthers(row.others > 0);
      return row.seq === latest;
    },
    async hashes() {
      const [row] = await slow.query<{ pages: Buffer | null; seq: number }>(
        `SELECT seq, ${HASHES} AS pages FROM tenant_stores WHERE tenant_id = $1`,
        [options.tenantId()],
      );
      listed = row?.seq ?? 0;
      return hashesIn(row?.pages ?? null);
    },
    async keep(end) {
      if (!(await isKeptTogether(end))) {
        const values = [...valuesAt(end), latest];
        const [row] = await database.query<{ n: number; others: number }>(sql.keepNext, values, {
          withinMs: KEEP_MS,
        });
        if (row?.n !== 1) return explained(database);
        options.onOthers(row.others > 0);
      }
      [latest, keptPages] = [end.seq, end.pageCount];
      return true;
    },
    async read(page) {
      const [row] = await database.query<{ body: Buffer }>(
        "SELECT body FROM tenant_pages WHERE tenant_id = $1 AND page = $2",
        [options.tenantId(), page],
        { withinMs: KEEP_MS },
      );
      // A body that is none is no page either: all pages are compared then, and it is written anew.
      return row === undefined ? null : imageOf(row.body);
    },
    async mend({ count, pages, end, heard }) {
      latest = await slow.transaction(
        async (tx) => {
          // From here on nobody else can take it.
          const [row] = await tx.query<{ seq: number }>(sql.renew, [...ours(), options.keyId()]);
          if (row === undefined) await explained(tx);
          if (row?.seq !== listed) throw new Error("the database was set back meanwhile");
          for (const slice of pages()) {
            const { numbers, hashes, starts, lengths, bodies } = pageValues(slice);
            const values = [options.tenantId(), numbers, hashes, starts, lengths, bodies];
            await tx.query(PUT_SLICE, values);
            heard();
          }
          const all = end();
          await tx.query(sql.keepAll, valuesAt(all));
          keptPages = Number.POSITIVE_INFINITY;
          return all.seq;
        },
        { withinMs: MEND_MS + count * MEND_PAGE_MS, repeatable: true },
      );
    },
    async leave(wasOpen) {
      // What its owner before didn't leave may lack what a disk has. A node has no more than the database.
      const clean = wasOpen || isOneOfMany === true || taken?.wasLost === false;
      const values = [...ours(), options.dueAt?.() ?? null, clean];
      await database.query(LEAVE, values, { withinMs: KEEP_MS });
    },
  };
}

interface Renewed {
  seq: number;
  others: number;
}

const setBack = () =>
  new RecordFault(
    "set back",
    "the database has forgotten this box, as one that was restored from a backup: nothing is written to it",
  );
