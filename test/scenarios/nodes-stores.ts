/**
 * Nodes with hosted tenants of their own, whose stores are in PostgreSQL, and senders and people who ask any of them, while
 * nodes are killed, end, stand still, are cut off from the database, and the database is lost to its standby:
 *
 *     node test/scenarios/nodes-stores.ts [blows, default 200] [seed, default 1] [fault]
 *
 * What was answered, read or paged is in the record, each page rings, and each that rings twice is excused by a blow.
 * `fault` plants one of `storeFaults` in the program, which has to be found.
 */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { memoryOrTemp } from "../support/memory.ts";
import { type PostgresPair, startPostgresPair } from "../support/postgres-pair.ts";
import { programFile } from "../support/program.ts";
import { seeded } from "../support/seeded.ts";
import { type StoreFaultName, spoiltStores } from "./nodes/programs.ts";
import { type Excuse, type Fallen, wasLate } from "./nodes/rings.ts";
import { type Place, StoresStage } from "./nodes/stores-stage.ts";
import { alertsKept } from "./nodes/tenant-ledger.ts";

const PATIENCE_MS = 400_000;
/** Longer than a node lives after its latest word, and until others answer for it. */
const AWAY_MS = 16_000;
/** So long nobody is given up: what is shorter excuses nothing. */
const SHORT_MS = 3_000;
const PAUSE_MS = 600;

export const storeBlows = {
  SIGTERM: 3,
  SIGKILL: 5,
  "both killed": 1,
  "cut, then killed": 3,
  "rows held, then killed": 1,
  "SIGSTOP, short": 3,
  SIGSTOP: 1,
  "cut, short": 3,
  cut: 1,
  "fail-over": 1,
  "standby away": 1,
} as const;
export type StoreBlow = keyof typeof storeBlows;

export interface StoresResult {
  blows: Partial<Record<StoreBlow, number>>;
  answered: number;
  pages: number;
  acked: number;
  keys: number;
  /** Pages that rang once more, each over a blow that excuses it. */
  excused: number;
  takings: number;
  /** Of these, from a node that lived, and couldn't say so; each over a blow or a slow machine. */
  late: number;
  /** The longest that a sender waited, milliseconds. */
  longest: number;
  /** In how many milliseconds every tenant had answered twice after each blow, where that was waited for. */
  took: Partial<Record<StoreBlow, number[]>>;
}

export interface StoresOptions {
  /** Called after each blow. */
  onBlow?(blow: StoreBlow): void;
  program?: string;
  nodes?: number;
  tenants?: number;
  /** The next blow after every tenant has answered again; default: whatever else goes on. */
  isOrderly?: boolean;
  seed?: number;
  /** Who has the database. Default: a pair of its own. */
  at?: { socket: string; name: string };
}

/** Begins the message of whoever waited in vain. */
export const IN_VAIN = "it never happens that ";

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `${IN_VAIN}${what}`);
    await pause(50);
  }
}

/** Blows that come again with the seed. */
export function blowsOf(count: number, seed: number): StoreBlow[] {
  const all = Object.entries(storeBlows).flatMap(([blow, n]) => Array(n).fill(blow));
  const random = seeded(seed);
  return Array.from({ length: count }, () => all[Math.floor(random() * all.length)] as StoreBlow);
}

/** Those that don't fall on one node. */
const ON_ALL: StoreBlow[] = ["both killed", "rows held, then killed", "fail-over", "standby away"];
const HARD: StoreBlow[] = ["rows held, then killed", "SIGSTOP", "cut, then killed", "SIGTERM"];

/** Those after which most faults show. */
export const hardBlows = (count: number): StoreBlow[] =>
  Array.from({ length: count }, (_, n) => HARD[n % HARD.length] as StoreBlow);

/** Throws where a promise was broken. */
export async function nodesStoresStory(
  blows: readonly StoreBlow[],
  { nodes = 2, tenants = 8, isOrderly = false, seed = 1, ...options }: StoresOptions = {},
): Promise<StoresResult> {
  const { at, program = await programFile() } = options;
  const pair = at === undefined ? await startPostgresPair({ place: memoryOrTemp() }) : null;
  const socket = () => at?.socket ?? pair?.socket() ?? "";
  const stage = new StoresStage({ program, socket, database: at?.name ?? "box", nodes, tenants });
  const random = seeded(seed + 1);
  const excuses: Excuse[] = [];
  const fallen: Fallen[] = [];
  const result = { blows: {}, took: {} } as StoresResult;
  try {
    await stage.begin();
    const running = stage.run(
      isOrderly ? { sendEveryMs: 200, useEveryMs: 500 } : { sendEveryMs: 500, useEveryMs: 1_000 },
    );
    await allAnswer(stage);
    const adding: Promise<void>[] = [];
    for (const [i, blow] of blows.entries()) {
      result.blows[blow] = (result.blows[blow] ?? 0) + 1;
      if (i % 5 === 0) adding.push(addKey(stage, Math.floor(random() * tenants)));
      const place = isOrderly ? await busiest(stage) : anyOf(stage.places, random());
      const began = performance.now();
      const back = await strike({ stage, pair, random, excuses, adding }, blow, place);
      if (isOrderly) {
        const from = performance.now();
        await allAnswer(stage);
        result.took[blow] = [...(result.took[blow] ?? []), performance.now() - from];
      }
      await back();
      const node = ON_ALL.includes(blow) ? null : place.node;
      fallen.push({ blow, from: began, until: performance.now(), node });
      if (isOrderly) {
        await until("the node is ready", () => place.node.isReady());
        await allAnswer(stage);
      } else await pause(random() * PAUSE_MS);
      options.onBlow?.(blow);
      assert.deepEqual(
        stage.tenants.flatMap(({ ledger }) => ledger.faults),
        [],
      );
    }
    await allAnswer(stage);
    await Promise.all(adding);
    stage.quiet();
    await running;
    await until("each page has rung", () => stage.tenants.every(({ ledger }) => ledger.hasRung()));
    for (const tenant of stage.tenants) await tenant.judgeKeys();
    for (const { node } of stage.places) node.signal("SIGTERM");
    for (const { node } of stage.places) await node.ended;
    return Object.assign(result, await judged(stage, excuses, [...fallen, ...stage.slow]));
  } finally {
    await stage.end();
    await pair?.stop();
  }
}

async function judged(stage: StoresStage, excuses: readonly Excuse[], fallen: readonly Fallen[]) {
  const client = await stage.client();
  try {
    const takings = await stage.takings(client);
    let excused = 0;
    for (const { id, ledger } of stage.tenants)
      excused += ledger.judge(await alertsKept(client, id), excuses, {
        fallen,
        takings: takings.filter(({ tenant }) => tenant === id),
      });
    const sum = (of: (tenant: StoresStage["tenants"][number]) => number) =>
      stage.tenants.reduce((all, tenant) => all + of(tenant), 0);
    return {
      answered: sum(({ ledger }) => ledger.answered.size),
      pages: sum(({ ledger }) => [...ledger.rings.values()].flat().length),
      acked: sum(({ ledger }) => ledger.acked.size),
      keys: sum(({ keys }) => keys.size),
      excused,
      takings: takings.length,
      late: takings.filter(wasLate).length,
      longest: Math.round(Math.max(...stage.tenants.map(({ longest }) => longest))),
    };
  } finally {
    await client.end();
  }
}

/** Every tenant answers twice more. */
async function allAnswer({ tenants }: StoresStage): Promise<void> {
  const before = tenants.map(({ ledger }) => ledger.answered.size);
  await until("every tenant answers", () =>
    tenants.every(({ ledger }, n) => ledger.answered.size > (before[n] ?? 0) + 1),
  );
}

/** What the operator is told was added, opens. */
async function addKey(stage: StoresStage, at: number): Promise<void> {
  const tenant = stage.tenants[at];
  const key = await stage.addKey(tenant?.id ?? "").catch(() => null);
  if (key !== null) tenant?.keys.set(key, true);
}

const anyOf = (places: readonly Place[], chance: number): Place =>
  places[Math.floor(chance * places.length)] as Place;

/** The node that has the most tenants. */
async function busiest(stage: StoresStage): Promise<Place> {
  const client = await stage.client();
  const { rows } = await client
    .query<{ node: string }>(
      `SELECT node FROM tenant_stores WHERE alive_until > clock_timestamp()
       GROUP BY node ORDER BY count(*) DESC LIMIT 1`,
    )
    .finally(() => client.end());
  return stage.places.find(({ node }) => node.name === rows[0]?.node) as Place;
}

interface Striking {
  stage: StoresStage;
  pair: PostgresPair | null;
  random: () => number;
  excuses: Excuse[];
  adding: Promise<void>[];
}

/** Nothing is written to any tenant's store until `end`, and what waited for it then never is. */
async function holdRows(stage: StoresStage): Promise<{ end(): Promise<void> }> {
  const client = await stage.client();
  await client.query("BEGIN; SELECT 1 FROM tenant_stores FOR UPDATE");
  return {
    async end() {
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
      );
      await client.end();
    },
  };
}

/** One blow. Resolves, once it has fallen, with what ends it. */
async function strike(
  { stage, pair, random, excuses, adding }: Striking,
  blow: StoreBlow,
  { node, reach }: Place,
): Promise<() => Promise<void>> {
  const from = performance.now();
  const excused = (on: Excuse["node"]) =>
    excuses.push({ from, until: performance.now(), node: on });
  const isShort = blow.endsWith("short");
  /** What is longer is waited out. */
  const lasts = async () => {
    const ms = isShort ? random() * SHORT_MS : AWAY_MS;
    await pause(Math.max(0, ms - (performance.now() - from)));
  };
  switch (blow) {
    case "SIGTERM":
      node.signal(blow);
      return async () => {
        await node.ended;
        await node.start();
      };
    case "SIGKILL":
      await node.kill();
      excused(node);
      return () => node.start();
    case "cut, then killed":
      reach(false);
      await pause(random() * SHORT_MS);
      await node.kill();
      excused(node);
      reach(true);
      return () => node.start();
    case "rows held, then killed": {
      const held = await holdRows(stage);
      const added = addKey(stage, Math.floor(random() * stage.tenants.length));
      adding.push(added);
      await Promise.race([added, pause(SHORT_MS)]);
      await Promise.all(stage.places.map((place) => place.node.kill()));
      excused(null);
      await held.end();
      await Promise.all(stage.places.map((place) => place.node.start()));
      return async () => {};
    }
    case "both killed":
      await Promise.all(stage.places.map((place) => place.node.kill()));
      excused(null);
      await Promise.all(stage.places.map((place) => place.node.start()));
      return async () => {};
    case "SIGSTOP":
    case "SIGSTOP, short":
      node.signal("SIGSTOP");
      return async () => {
        await lasts();
        node.signal("SIGCONT");
        if (!isShort) excused(node);
      };
    case "cut":
    case "cut, short":
      reach(false);
      return async () => {
        await lasts();
        reach(true);
        if (!isShort) excused(node);
      };
    case "fail-over": {
      const over = pair?.failOver();
      await pause(50);
      for (const { cut } of stage.places) cut();
      await over;
      excused(null);
      return async () => {};
    }
    case "standby away":
      await pair?.loseStandby();
      await pause(random() * SHORT_MS);
      await pair?.standbyBack();
      if (performance.now() - from > SHORT_MS) excused(null);
      return async () => {};
  }
}

if (import.meta.main) {
  const [blows = 200, seed = 1] = process.argv.slice(2, 4).map(Number);
  const fault = process.argv[4] as StoreFaultName | undefined;
  const start = performance.now();
  const program = fault === undefined ? await programFile() : await spoiltStores(fault);
  const tenants = Number(process.env["TENANTS"] ?? 8);
  const nodes = Number(process.env["NODES"] ?? 2);
  const result = await nodesStoresStory(fault ? hardBlows(blows) : blowsOf(blows, seed), {
    program,
    seed,
    tenants,
    nodes,
    isOrderly: fault !== undefined,
    onBlow: (blow) =>
      process.stderr.write(`${Math.round((performance.now() - start) / 1000)} s ${blow}\n`),
  });
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(`${JSON.stringify({ seed, seconds, ...result })}\n`);
}
