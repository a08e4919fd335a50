import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { seenInMemory } from "../src/hosted/registry/generation.ts";
import { openDatabaseRegistry } from "../src/hosted/registry/postgres/open.ts";
import { databaseSettings } from "../src/hosted/registry/postgres/settings.ts";
import { fromRounds, median, percentile, type Row } from "./harness.ts";
import { CONNECTIONS, type Stage } from "./nodes-stage.ts";
import { type RelayKey, rate } from "./relay-load.ts";

const BEAT_SECONDS = 60;
const NODES = 10;
const BURSTS = 4;

interface Spent {
  seconds: number;
  node: number;
  database: number;
  wal: number;
}

/** What the node and its database spend while `work` is done: CPU in seconds, the log in bytes. */
async function spent({ alone, database }: Stage, work: () => Promise<unknown>): Promise<Spent> {
  const lsn = async () =>
    Number(await database.ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"));
  const now = async () => ({
    seconds: performance.now() / 1000,
    node: alone.child.cpu(),
    database: database.cpuSeconds(),
    wal: await lsn(),
  });
  const before = await now();
  await work();
  const after = await now();
  return {
    seconds: after.seconds - before.seconds,
    node: after.node - before.node,
    database: after.database - before.database,
    wal: after.wal - before.wal,
  };
}

/** Beats at an even rate, each of another box, for so long; how many. */
async function beats(stage: Stage, keys: readonly RelayKey[], how: { rate: number; ms: number }) {
  const all: Promise<unknown>[] = [];
  const began = performance.now();
  for (;;) {
    const passed = performance.now() - began;
    if (passed > how.ms) break;
    while (all.length < (passed / 1000) * how.rate)
      all.push(stage.alone.boxes.beat(keys[(all.length * 7919) % keys.length] as RelayKey));
    await pause(5);
  }
  await Promise.all(all);
  return all.length;
}

/** A tenth of all boxes beat at this node, as at one of ten, and a burst of pages comes beside them. */
export async function watched(stage: Stage, quick: boolean): Promise<Row[]> {
  const [boxes, pages, ms] = quick ? [100_000, 200, 5_000] : [100_000, 500, 20_000];
  const keys = [...stage.keys, ...(await stage.fill(stage.keys.length, boxes))];
  // So that what cleans up by itself has nothing to do meanwhile.
  await stage.database.ask("VACUUM ANALYZE");
  const pace = boxes / BEAT_SECONDS / NODES;
  // Its own tenth, whose keys it knows, as a node that has run for a minute.
  const own = keys.filter((_, n) => n % NODES === 0);
  await rate(own.length, (i) => stage.alone.boxes.beat(own[i] as RelayKey), CONNECTIONS);
  const looks = await looked(stage, quick ? 3 : 9);
  const idle = await spent(stage, () => pause(ms / 4));
  let count = 0;
  const beating = await spent(stage, async () => {
    count = await beats(stage, own, { rate: pace, ms });
  });
  const burst = (name: string, took: number[] = []) =>
    Promise.all(
      Array.from({ length: pages }, async (_, n) => {
        const began = performance.now();
        await stage.alone.boxes.page(stage.alone.phone, `${name}-${n}`);
        took.push(performance.now() - began);
      }),
    );
  // What a page costs is less than what heartbeats beside it differ by.
  const bursting = await spent(stage, async () => {
    for (let n = 0; n < BURSTS; n++) await burst(`alone-${n}`);
  });
  const took: number[] = [];
  const beside = beats(stage, own, { rate: pace, ms: ms / 4 });
  await Promise.all([beside, burst("beside", took)]);
  const beat = part(beating, idle, count);
  const page = part(bursting, idle, pages * BURSTS);
  const all = boxes / BEAT_SECONDS;
  return [
    { what: "watched boxes", unit: "boxes", value: boxes },
    fromRounds("a look at all of them", "ms", looks),
    { what: "heartbeats at this node", unit: "a second", value: count / beating.seconds },
    ...costs("a heartbeat", beat),
    ...costs(`a page of a burst of ${pages}`, page),
    { what: "pages of a burst beside heartbeats, p50", unit: "ms", value: median(took) },
    { what: "pages of a burst beside heartbeats, p99", unit: "ms", value: percentile(took, 99) },
    { what: "ten nodes: heartbeats", unit: "a second", value: all },
    {
      what: "ten nodes: the database's CPU for them",
      unit: "% of a core",
      value: beat.database * all * 100,
    },
    { what: "ten nodes: its log for them", unit: "KiB/s", value: (beat.wal * all) / 1024 },
    {
      what: `ten nodes, ${pages} pages at each: the database's CPU`,
      unit: "s",
      value: page.database * pages * NODES,
    },
  ];
}

type Each = Omit<Spent, "seconds">;

/** One's share of what was spent, without what is spent anyhow. */
function part(all: Spent, idle: Spent, count: number): Each {
  const of = (name: keyof Each) =>
    Math.max(0, (all[name] - (idle[name] / idle.seconds) * all.seconds) / count);
  return { node: of("node"), database: of("database"), wal: of("wal") };
}

const costs = (what: string, each: Each): Row[] => [
  { what: `${what}: the node's CPU`, unit: "µs", value: each.node * 1e6 },
  { what: `${what}: the database's CPU`, unit: "µs", value: each.database * 1e6 },
  { what: `${what}: the database's log`, unit: "B", value: each.wal },
];

/** Milliseconds of looks, as the node that leads has them each 15 s. */
async function looked({ alone: { place } }: Stage, times: number): Promise<number[]> {
  const { data, database = "", hostedKey = join(data, "hosted.key") } = place;
  const settings = databaseSettings({ database }, []);
  if (settings === null) throw new Error(`no database: ${database}`);
  const { registry } = await openDatabaseRegistry({
    settings,
    pool: 1,
    keyFile: hostedKey,
    serves: true,
    node: "looks",
    clock: systemClock,
    random: systemRandom,
    seen: seenInMemory(),
    onPlain() {},
  });
  const took: number[] = [];
  for (let n = 0; n <= times; n++) {
    const began = performance.now();
    await registry.heartbeats.look(120);
    // The first one connects.
    if (n > 0) took.push(performance.now() - began);
  }
  registry.close();
  return took;
}
