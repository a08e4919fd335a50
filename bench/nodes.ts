import { availableParallelism, loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fromRounds, median, type Row, type Scenario } from "./harness.ts";
import { CONNECTIONS, type Node, type Stage, withStage } from "./nodes-stage.ts";
import { watched } from "./nodes-watched.ts";
import { bareClient, pageOf, type RelayKey, rate } from "./relay-load.ts";

/** The load, two nodes, the database and the provider each need one. */
const CORES_FOR_TWO = 6;
const HELD = 32;
const ASK_AGAIN_MS = 250;

export const nodes: Scenario = {
  name: "nodes",
  about:
    "hosted nodes on a PostgreSQL that syncs, alone and with a synchronous standby, beside SQLite on the same disk",
  run: (quick) =>
    withStage(async (stage) => {
      const busyBefore = loadavg()[0] ?? 0;
      const rows = [
        ...(await relayed(stage, quick)),
        ...(await beaten(stage, quick)),
        ...(await watched(stage, quick)),
        ...(await pagedAlone(stage, quick)),
        ...(await twoNodes(stage, quick)),
        ...(await killed(stage)),
      ];
      const unit = `of ${availableParallelism()} cores`;
      const busy = [busyBefore, loadavg()[0] ?? 0];
      return [...rows, fromRounds("load when it began and ended", unit, busy)];
    }),
};

const BOUNDS = {
  route: { must: 0.75, aim: 0.9 },
  standby: { must: 0.7, aim: 0.85 },
  beats: { must: 0.7, aim: 1 },
  beatCpu: { must: 0.3, aim: 0.15, lower: true },
  page: { must: 0.3, aim: 0.1, lower: true },
  two: { must: 1.6, aim: 1.9 },
  kill: { must: 20, aim: 16, lower: true },
};

async function relayed(stage: Stage, quick: boolean): Promise<Row[]> {
  const rounds: Record<"sqlite" | "alone" | "paired", number>[] = [];
  const each = quick ? 300 : 1_000;
  for (let round = 0; round <= (quick ? 2 : 7); round++) {
    const through = ({ boxes, phone }: Node) =>
      rate(each, (i) => boxes.page(phone, `${round}-${i}`));
    // Those that are held against each other are neighbours in time.
    const sqlite = await through(stage.sqlite);
    const alone = await through(stage.alone);
    const paired = await through(stage.paired);
    // The first round warms all up.
    if (round > 0) rounds.push({ sqlite, alone, paired });
  }
  const of = (what: string, value: (one: (typeof rounds)[number]) => number, more?: Partial<Row>) =>
    fromRounds(what, more ? "ratio" : "a second", rounds.map(value), more);
  return [
    of("relay route on SQLite", (one) => one.sqlite),
    of("relay route on PostgreSQL", (one) => one.alone),
    of("relay route: PostgreSQL / SQLite", (one) => one.alone / one.sqlite, BOUNDS.route),
    of(
      "the same: with a synchronous standby / without",
      (one) => one.paired / one.alone,
      BOUNDS.standby,
    ),
  ];
}

async function beaten({ sqlite, alone, keys, database }: Stage, quick: boolean): Promise<Row[]> {
  const rounds: { ratio: number; rate: number; node: number; database: number }[] = [];
  const each = quick ? 1_500 : 4_000;
  for (let round = 0; round <= (quick ? 2 : 6); round++) {
    const at = ({ boxes }: Node) =>
      rate(each, (i) => boxes.beat(keys[i % keys.length] as RelayKey), CONNECTIONS);
    const file = await at(sqlite);
    const [node, db] = [alone.child.cpu(), database.cpuSeconds()];
    const beats = await at(alone);
    const spent = { node: alone.child.cpu() - node, database: database.cpuSeconds() - db };
    if (round > 0) rounds.push({ ratio: beats / file, rate: beats, ...spent });
  }
  const of = (value: (one: (typeof rounds)[number]) => number) => rounds.map(value);
  return [
    fromRounds(
      `heartbeats on PostgreSQL, ${CONNECTIONS} connections`,
      "a second",
      of((one) => one.rate),
    ),
    fromRounds(
      "heartbeats: PostgreSQL / SQLite",
      "ratio",
      of((one) => one.ratio),
      BOUNDS.beats,
    ),
    fromRounds(
      "the node's CPU for one",
      "µs",
      of((one) => (one.node / each) * 1e6),
    ),
    fromRounds(
      "a heartbeat's CPU: database / node",
      "ratio",
      of((one) => one.database / one.node),
      BOUNDS.beatCpu,
    ),
  ];
}

/** One page at a time, at a provider that takes 30 ms. */
async function pagedAlone(stage: Stage, quick: boolean): Promise<Row[]> {
  process.kill(stage.provider.pid, "SIGUSR2");
  const bare = bareClient(stage.apns);
  const took = { bare: [] as number[], sqlite: [] as number[], alone: [] as number[] };
  const timed = async (into: number[], work: Promise<unknown>, began = performance.now()) => {
    await work;
    into.push(performance.now() - began);
  };
  for (let n = 0; n < (quick ? 10 : 60); n++) {
    await timed(took.bare, bare.push());
    for (const name of ["sqlite", "alone"] as const)
      await timed(took[name], stage[name].boxes.page(stage[name].phone, `lone-${n}`));
  }
  bare.close();
  const push = median(took.bare);
  const added = took.alone.map((ms, n) => (ms - (took.sqlite[n] ?? 0)) / push);
  return [
    fromRounds("a push alone, at 30 ms", "ms", took.bare),
    fromRounds("a page alone on SQLite", "ms", took.sqlite),
    fromRounds("a page alone on PostgreSQL", "ms", took.alone),
    {
      what: "a page alone: added by PostgreSQL / the push",
      unit: "ratio",
      value: median(added),
      ...BOUNDS.page,
    },
  ];
}

async function twoNodes(stage: Stage, quick: boolean): Promise<Row[]> {
  if (availableParallelism() < CORES_FOR_TWO) {
    console.error(
      `two nodes / one isn't measured here: it takes ${CORES_FOR_TWO} cores, this machine has ${availableParallelism()}`,
    );
    return [];
  }
  const both = [stage.alone, await stage.another()];
  const ratios: number[] = [];
  const each = quick ? 300 : 3_000;
  for (let round = 0; round <= (quick ? 2 : 5); round++) {
    const through = (name: string, nodes: readonly Node[]) =>
      rate(
        each,
        (i) => {
          const node = nodes[i % nodes.length] as Node;
          return node.boxes.page(node.phone, `${name}-${round}-${i}`);
        },
        CONNECTIONS,
      );
    const one = await through("one", both.slice(0, 1));
    const two = await through("two", both);
    if (round > 0) ratios.push(two / one);
  }
  await both[1]?.child.stop();
  return [fromRounds("relay route: two nodes / one", "ratio", ratios, BOUNDS.two)];
}

/** A node dies while the provider answers none of its pushes; its boxes ask another for the same pages. */
async function killed(stage: Stage): Promise<Row[]> {
  const { alone, database, provider } = stage;
  const other = await stage.another();
  process.kill(provider.pid, "SIGSTOP");
  const timestamp = Math.floor(Date.now() / 1000);
  const pages = Array.from({ length: HELD }, (_, n) => ({ ...pageOf(`held-${n}`), timestamp }));
  const lost = pages.map((page) => alone.boxes.say(alone.phone, page).catch(() => null));
  const held = "SELECT count(*) FROM relay_claims WHERE holder IS NOT NULL";
  while (Number(await database.ask(held)) < HELD) await pause(20);
  process.kill(alone.child.pid, "SIGKILL");
  process.kill(provider.pid, "SIGCONT");
  const began = performance.now();
  await Promise.all(lost);
  await Promise.all(
    pages.map(async (page) => {
      while ((await other.boxes.say(other.phone, page)).status !== 200) await pause(ASK_AGAIN_MS);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const what = `a node's kill until all ${HELD} pages that it held are done`;
  return [{ what, unit: "s", value: seconds, ...BOUNDS.kill }];
}
