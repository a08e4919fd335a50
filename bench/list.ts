import { latestMinutes } from "../src/core/alerts/buckets.ts";
import { countAlerts } from "../src/core/alerts/counts.ts";
import type { TriageFilter } from "../src/core/alerts/query.ts";
import { triage } from "../src/core/alerts/triage.ts";
import type { Store } from "../src/ground/store/store.ts";
import { search } from "../src/records/search/search.ts";
import { events } from "./events.ts";
import { fromRounds, median, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { closedLoop } from "./load.ts";
import { open as openStore, seed } from "./scale.ts";

const ACCOUNT = "0123456789abcdef";

export const list: Scenario = {
  name: "list",
  about: "lists of a million alerts with counts and minutes, and searches in them",
  run: (quick) =>
    withDirectory(async (directory) => {
      const store = openStore(directory, "list");
      seed(store, 1);
      fill(store, quick ? 100_000 : 1_000_000);
      const page = async (filter: Partial<TriageFilter>) => {
        const shown = { limit: 50, order: "need", ...filter } as const;
        const { rows } = await triage(store, shown);
        countAlerts(store, { accountId: ACCOUNT });
        const ids = rows.map(({ id }) => id);
        latestMinutes(store, ids, { at: 1_700_000_000, most: 60 });
      };
      const bound = { must: 10, lower: true };
      const words = { must: 150, lower: true };
      const rows: Row[] = [];
      const took = async (what: string, more: object, run: () => Promise<unknown>) => {
        const { cpu, ...times } = await timed(run);
        rows.push({ what, unit: "ms", ...times, ...more });
        return cpu;
      };
      const open = await took("open alerts by need, counts and minutes", bound, () =>
        page({ states: ["open"] }),
      );
      await took("resolved ones", bound, () => page({ states: ["resolved"] }));
      await took("silenced ones", bound, () => page({ states: ["open"], silenced: true }));
      await took("one's own", bound, () => page({ mine: ACCOUNT }));
      await took("q that many have", words, () => page({ q: "payment level:error" }));
      await took("q that one in 100,000 has", words, () => page({ q: "needle" }));
      await took("q that none has", words, () => page({ q: "key:host=none" }));
      await took("search", words, () => search(store, { q: "needle", limit: 20 }));
      const all = store.db.prepare("SELECT sum(length(last_message)) FROM alerts");
      const yardstick = (await timed(async () => all.get())).cpu;
      store.close();
      const held: Row = {
        what: "open alerts / reading every alert once, processor time",
        unit: "ratio",
        value: open / yardstick,
        lower: true,
        // Of 100,000; among a million it is a tenth of that.
        hold: 0.4,
      };
      return [...rows, held];
    }),
};

/** One in a hundred is open, as many are acknowledged; one of a thousand of both is somebody's, one of 5,000 silenced. */
function fill(store: Store, n: number): void {
  store.write((tx) => {
    tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
      INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen, last_seen,
        last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
      SELECT 1, 1, 'r0', 'seed:' || i, iif(i % 100 = 0, 'open', iif(i % 100 = 1, 'acknowledged', 'resolved')), 't',
        'payment <*> failed after <*> ms', 200 + 100 * (i % 4), 1, 0, 0,
        'payment ' || i || ' failed after 30 ms' || iif(i % 100000 = 50000, ' needle', ''),
        '{"host":"web-' || (i % 50) || '"}', 0, i, 0, 0 FROM n;
      UPDATE alerts SET page_accounts = '["${ACCOUNT}"]' WHERE id % 1000 = 0;
      UPDATE alerts SET silenced_by = 's' WHERE id % 5000 = 0;
      INSERT INTO alert_minutes (slot, alert_id, n) SELECT 1699999980 - 60 * n.value, a.id, 3 FROM alerts a, json_each('[0,1,2,5,9,20,40]') n
        WHERE a.state = 'open'`);
  });
  // Filling in one transaction leaves a log that no box has.
  store.db.pragma("wal_checkpoint(TRUNCATE)");
}

/** `cpu`: microseconds of processor time of all runs. */
async function timed(
  run: () => Promise<unknown>,
): Promise<Pick<Row, "value" | "high"> & { cpu: number }> {
  const times: number[] = [];
  const from = process.threadCpuUsage();
  for (let i = 0; i < 20; i++) {
    const before = performance.now();
    await run();
    times.push(performance.now() - before);
  }
  const { user, system } = process.threadCpuUsage(from);
  return { value: median(times), high: Math.max(...times), cpu: user + system };
}

/** One box that counts minutes, and one whose statement for it does nothing: the load goes to them by turns. */
export const occurrences: Scenario = {
  name: "occurrences",
  about: "ingest with events counted by the minute, beside ingest without",
  async run(quick) {
    const [counted, muted] = await Promise.all([side([]), side(["uncounted"])]);
    const ratios = { cpu: [] as number[], rate: [] as number[] };
    for (let round = 0; round < (quick ? 3 : 9); round++) {
      // The one or the other first: the machine's own pace drifts.
      const order = round % 2 === 0 ? [counted, muted] : [muted, counted];
      const done = new Map<Side, Load>();
      for (const one of order) done.set(one, await one.load(quick ? 2 : 4));
      const [beside, alone] = [done.get(counted), done.get(muted)];
      // The first round makes the templates.
      if (round === 0 || beside === undefined || alone === undefined) continue;
      ratios.cpu.push(alone.cpu / beside.cpu);
      ratios.rate.push(beside.rate / alone.rate);
    }
    await Promise.all([counted.stop(), muted.stop()]);
    return [
      fromRounds("events for the same CPU, counted / not", "ratio", ratios.cpu, { must: 0.98 }),
      fromRounds("events/s, counted / not", "ratio", ratios.rate),
    ];
  },
};

/** Of one round: events a second, and microseconds of the server's CPU for each. */
interface Load {
  rate: number;
  cpu: number;
}

interface Side {
  load(seconds: number): Promise<Load>;
  stop(): Promise<void>;
}

async function side(more: readonly string[]): Promise<Side> {
  const server = await start(process.execPath, ["bench/box-server.ts", "20", "retained", ...more]);
  const [url = "", token] = server.line.split(" ");
  const headers = { Authorization: `Bearer ${token}` };
  const all = { url: `${url}/v1/ingest`, headers, bodies: events(), connections: 64 };
  return {
    load: (seconds) =>
      withDirectory(async (directory) => {
        const before = server.cpu();
        const { rate } = await closedLoop({ ...all, directory, seconds });
        return { rate, cpu: ((server.cpu() - before) * 1e6) / (rate * seconds) };
      }),
    stop: () => server.stop(),
  };
}
