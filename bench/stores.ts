import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PAGE, pageHash } from "../src/ground/store/record/sums.ts";
import { pageValues } from "../src/hosted/record/body.ts";
import { type PostgresPair, startPostgresPair } from "../test/support/postgres-pair.ts";
import { events } from "./events.ts";
import { fromRounds, type Row, type Scenario, start, withDirectory } from "./harness.ts";
import { boxTarget, type Target } from "./ingest.ts";
import { closedLoop, openLoop } from "./load.ts";

/** A box whose commits are in a PostgreSQL that syncs, beside one without; everything on the same cores and disk. */

const BOUNDS = {
  ingest: { must: 0.25, aim: 0.45 },
  alone: { must: 0.15, aim: 0.4 },
  hosted: { must: 0.3, aim: 0.5 },
  cpu: { must: 4, aim: 2, lower: true },
  log: { must: 3, aim: 1.5, lower: true },
  logAlone: { must: 25, aim: 12, lower: true },
  read: { must: 1.05, aim: 1, lower: true },
  table: { must: 2, aim: 0.6, lower: true },
  bodies: { must: 2, lower: true },
};

export const stores: Scenario = {
  name: "stores",
  about: "a box whose commits are in a database as well, beside one without",
  async run(quick) {
    const pair = await startPostgresPair({ standby: false });
    try {
      return [
        ...(await taken(pair, { quick, ndjson: false, connections: 64 })),
        ...(await taken(pair, { quick, ndjson: false, connections: 1 })),
        ...(await taken(pair, { quick, ndjson: true, connections: 16 })),
        ...(await hosted(pair, quick)),
        ...(await grown(pair, quick)),
        ...(await read(pair, quick)),
        ...(await parts()),
      ];
    } finally {
      await pair.stop();
    }
  },
};

let made = 0;

async function newDatabase(pair: PostgresPair): Promise<{ name: string; url: string }> {
  const name = `kept${++made}`;
  await pair.ask(`CREATE DATABASE ${name}`, "postgres");
  return { name, url: `postgres://box@${encodeURIComponent(pair.socket())}/${name}` };
}

/** A box with a database of its own. */
async function keptTarget(pair: PostgresPair, ndjson = false): Promise<Target & { name: string }> {
  const { name, url } = await newDatabase(pair);
  return { ...(await boxTarget(ndjson, { BOX_BENCH_DATABASE: url })), name };
}

interface Round {
  rate: number;
  p50: number;
  p99: number;
  cpu: number;
}

async function loaded(target: Target, how: How, seconds: number): Promise<Round> {
  const { connections } = how;
  return withDirectory(async (directory) => {
    await closedLoop({ ...target, directory, connections, seconds: 1 });
    const before = target.cpu();
    const { rate, p50, p99 } = await closedLoop({ ...target, directory, connections, seconds });
    const cpu = ((target.cpu() - before) * 1e6) / (rate * seconds * target.each);
    return { rate: rate * target.each, p50, p99, cpu };
  });
}

interface How {
  quick: boolean;
  ndjson: boolean;
  connections: number;
}

const wal = async (pair: PostgresPair) =>
  Number(await pair.ask("SELECT pg_current_wal_lsn() - '0/0'", "postgres"));
/** Pages that were written, and ships. PostgreSQL notes them a second later. */
async function shipped(
  pair: PostgresPair,
  name: string,
): Promise<{ pages: number; ships: number }> {
  await pause(1_200);
  const of = (table: string) =>
    `(SELECT n_tup_ins + n_tup_upd FROM pg_stat_user_tables WHERE relname = '${table}')`;
  const found = await pair.ask(`SELECT ${of("tenant_pages")}, ${of("tenant_stores")}`, name);
  const [pages = 0, ships = 0] = found.split("|").map(Number);
  return { pages, ships };
}

/** Single events or batches in a closed loop. */
async function taken(pair: PostgresPair, how: How): Promise<Row[]> {
  const { quick, ndjson, connections } = how;
  const each: { alone: Round; kept: Round; log: number; pages: number; events: number }[] = [];
  const seconds = quick ? 2 : 5;
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    const bare = await boxTarget(ndjson);
    const alone = await loaded(bare, how, seconds);
    await bare.stop();
    const target = await keptTarget(pair, ndjson);
    const [log, before] = [await wal(pair), await shipped(pair, target.name)];
    const kept = await loaded(target, how, seconds);
    // The first second warms up.
    const events = kept.rate * (seconds + 1);
    const now = await shipped(pair, target.name);
    const ships = now.ships - before.ships;
    const size = target.bodies.join("").length / target.bodies.length / target.each;
    each.push({
      alone,
      kept,
      log: ((await wal(pair)) - log) / events / size,
      pages: (now.pages - before.pages) / ships,
      events: events / ships,
    });
    await target.stop();
  }
  const what = `${ndjson ? "batches of 100" : "single events"}, ${connections} connection${connections === 1 ? "" : "s"}`;
  const of = (
    name: string,
    unit: string,
    value: (one: (typeof each)[number]) => number,
    more = {},
  ) => fromRounds(`${what}: ${name}`, unit, each.map(value), more);
  const single = !ndjson && (connections === 1 ? BOUNDS.alone : BOUNDS.ingest);
  return [
    of(
      "with a database / without",
      "ratio",
      ({ kept, alone }) => kept.rate / alone.rate,
      single || {},
    ),
    of("without", "1/s", ({ alone }) => alone.rate),
    of("with", "1/s", ({ kept }) => kept.rate),
    of("p50 without", "ms", ({ alone }) => alone.p50),
    of("p50 with", "ms", ({ kept }) => kept.p50),
    of("p99 without", "ms", ({ alone }) => alone.p99),
    of("p99 with", "ms", ({ kept }) => kept.p99),
    of(
      "the box's CPU for an event, with / without",
      "ratio",
      ({ kept, alone }) => kept.cpu / alone.cpu,
      connections === 64 ? BOUNDS.cpu : {},
    ),
    of("events a ship", "", ({ events }) => events),
    of("pages a ship", "", ({ pages }) => pages),
    of(
      "the box's CPU for a ship",
      "ms",
      ({ kept, alone, events }) => ((kept.cpu - alone.cpu) * events) / 1000,
    ),
    of(
      "the database's log / the events' bytes",
      "ratio",
      ({ log }) => log,
      ndjson ? {} : connections === 1 ? BOUNDS.logAlone : BOUNDS.log,
    ),
  ];
}

const TENANTS = 64;

/** Single events of hosted tenants, as many connections; without a database they are on this disk alone. */
async function hosted(pair: PostgresPair, quick: boolean): Promise<Row[]> {
  const taken = async (database: string) => {
    const env = { BOX_BENCH_DATABASE: database };
    const server = await start(process.execPath, ["bench/hosted-server.ts", String(TENANTS)], env);
    const [url, ...tokens] = server.line.split(" ");
    const { cpu, stop } = server;
    const headers = { "Content-Type": "application/json" };
    const about = { name: "hosted", url: `${url}/v1/ingest`, headers, bodies: events(), each: 1 };
    const how = { quick, ndjson: false, connections: TENANTS };
    const first = (token: string) => {
      const authorization = `Bearer ${token}`;
      const init = { method: "POST", headers: { ...headers, authorization }, body: events()[0] };
      return fetch(about.url, init as RequestInit);
    };
    await Promise.all(tokens.map(first));
    const found = await loaded({ ...about, tokens, cpu, stop }, how, quick ? 4 : 10);
    await stop();
    return found;
  };
  const each: { alone: Round; kept: Round }[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const alone = await taken("");
    each.push({ alone, kept: await taken((await newDatabase(pair)).url) });
  }
  const what = `single events of ${TENANTS} hosted tenants`;
  const ratios = each.map(({ kept, alone }) => kept.rate / alone.rate);
  const of = (name: string, unit: string, value: (one: (typeof each)[number]) => number) =>
    fromRounds(`${what}: ${name}`, unit, each.map(value));
  return [
    fromRounds(`${what}: with a database / without`, "ratio", ratios, BOUNDS.hosted),
    of("without", "1/s", ({ alone }) => alone.rate),
    of("with", "1/s", ({ kept }) => kept.rate),
    of("p99 with", "ms", ({ kept }) => kept.p99),
  ];
}

/** What a second of few or many events leaves in the database, and what ships to the same pages make of the table. */
async function grown(pair: PostgresPair, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const target = await keptTarget(pair);
  const seconds = quick ? 3 : 20;
  for (const rate of [1, 100, 5_000]) {
    const before = await wal(pair);
    await openLoop({ ...target, directory: "", connections: 64, seconds, rate });
    await pause(1_200);
    const bytes = (await wal(pair)) - before;
    const what = `the database's log at ${rate} events a second`;
    rows.push({ what, unit: "KB a second", value: bytes / seconds / 1_000 });
  }
  const one = { ...target, directory: "", connections: 8, seconds: quick ? 1 : 2 };
  for (const many of quick ? [1_000, 4_000] : [1_000, 4_000, 8_800]) {
    let { ships } = await shipped(pair, target.name);
    while (ships < many) {
      await withDirectory((directory) => closedLoop({ ...one, directory }));
      ships = (await shipped(pair, target.name)).ships;
    }
    const sizes = `SELECT pg_relation_size('tenant_pages'), sum(length(body)), count(*) * ${PAGE} FROM tenant_pages`;
    const found = (await pair.ask(sizes, target.name)).split("|").map(Number);
    const [table = 0, bodies = 0, store = 0] = found;
    const of = (what: string) => `after ${many} ships: tenant_pages / ${what}`;
    rows.push({ what: of("the store"), unit: "ratio", value: table / store, ...BOUNDS.table });
    rows.push({ what: of("its bodies"), unit: "ratio", value: table / bodies, ...BOUNDS.bodies });
  }
  await target.stop();
  return rows;
}

/** What hashing and compressing a page takes, of a store with events in it. */
async function parts(): Promise<Row[]> {
  const target = await boxTarget(false);
  await withDirectory((directory) =>
    closedLoop({ ...target, directory, connections: 16, seconds: 2 }),
  );
  const file = readFileSync(join(target.data ?? "", "box.db"));
  await target.stop();
  const pages = Array.from({ length: file.length / PAGE }, (_, n) => ({
    page: n + 1,
    hash: 0n,
    image: file.subarray(n * PAGE, (n + 1) * PAGE),
  }));
  const timed = (work: () => void): number[] =>
    Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / pages.length;
    });
  return [
    fromRounds(
      "a page: hash",
      "µs",
      timed(() => {
        for (const { page, image } of pages) pageHash(page, image);
      }),
    ),
    fromRounds(
      "a page: compress, and put into a statement",
      "µs",
      timed(() => pageValues(pages)),
    ),
  ];
}

/** The box's CPU for answers that only read, one connection. */
async function read(pair: PostgresPair, quick: boolean): Promise<Row[]> {
  const ratios: number[] = [];
  const targets = [await boxTarget(false), await keptTarget(pair)] as const;
  const took = async (target: Target) => {
    const before = target.cpu();
    const many = quick ? 1_000 : 2_000;
    for (let n = 0; n < many; n++) {
      const answer = await fetch(new URL("/v1/projects", target.url), {
        headers: { authorization: `Bearer ${target.key}` },
      });
      await answer.arrayBuffer();
    }
    return target.cpu() - before;
  };
  for (let round = 0; round <= (quick ? 3 : 7); round++) {
    const [alone, kept] = [await took(targets[0]), await took(targets[1])];
    if (round > 0) ratios.push(kept / alone);
  }
  for (const target of targets) await target.stop();
  return [
    fromRounds(
      "the box's CPU for an answer that reads: with / without",
      "ratio",
      ratios,
      BOUNDS.read,
    ),
  ];
}
