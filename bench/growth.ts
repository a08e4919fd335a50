import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../src/ground/kit/clock.ts";
import { createRetention, defaultRetention } from "../src/tenant/retention.ts";
import { type TestBox, testBox } from "../test/support/box.ts";
import { signedIn } from "../test/support/console.ts";
import { fill, partOfFull, type Size } from "./growth-stage.ts";
import { type Row, type Scenario, withDirectory } from "./harness.ts";

/**
 * What an answer costs a box that holds ten times as much. `GROWTH=1` fills the full size beside a tenth of it: 10 million
 * alerts, 1,000 projects, 10,000 rules, 100 million lines. That takes some 30 GB and an hour.
 */
export const growth: Scenario = {
  name: "growth",
  about: "what answers and jobs cost with ten times as many alerts, projects, rules and lines",
  run: (quick) =>
    withDirectory(async (directory) => {
      const part = Number(process.env["GROWTH"] ?? (quick ? 0.01 : 0.1));
      const [few, many] = [part / 10, part].map(partOfFull) as [Size, Size];
      const at = { few: join(directory, "few"), many: join(directory, "many") };
      for (const data of Object.values(at)) mkdirSync(data);
      fill(at.few, few);
      fill(at.many, many);
      const [small, large] = [await side(at.few, few), await side(at.many, many)];
      const compare = (what: string, run: (of: Side) => Promise<void>) =>
        compared(what, (isMany) => cpuOf(() => run(isMany ? large : small)));
      const all: Cost[] = [];
      for (const [what, path] of asked)
        all.push(await compare(what, (of) => of.ask(path(of.size))));
      all.push(await compare("a batch of 50 events", (of) => of.send()));
      all.push(await compare("20 looks of retention where nothing is old", (of) => of.retain()));
      const everything = await compare("reading every alert once", (of) => of.read());
      // The clock stops a search, wherever it is then, and what a start costs varies by more than a reading of all.
      const others = [
        await compare("search for a name", (of) => of.ask("/v1/search?q=project%200001")),
        await compare("a stop and a start, all loaded", (of) => of.restart()),
      ];
      await Promise.all([small.box.stop(), large.box.stop()]);
      return [...[...all, ...others].flatMap(ratios), most(all, everything)];
    }),
};

const PROJECT = encodeURIComponent("project 0001");
/** The newest alerts are open. */
const openOne = ({ alerts }: Size) => alerts - 7;

/** Pages begin with another path than /v1. */
const asked: readonly [what: string, path: (size: Size) => string][] = [
  ["open alerts by need, with counts", () => "/v1/alerts?order=need&counts=true"],
  ["resolved alerts", () => "/v1/alerts?state=resolved&order=need"],
  ["alerts of a rule", () => `/v1/alerts?project=${PROJECT}&rule=rule%2000001`],
  ["alerts far back", ({ alerts }) => `/v1/alerts?before=${Math.floor(alerts / 2)}`],
  ["/alerts", () => "/alerts"],
  ["an alert's page", (size) => `/a/${openOne(size)}`],
  ["lines around an alert", (size) => `/v1/alerts/${openOne(size)}/lines`],
  ["the silence of an alert", (size) => `/v1/alerts/${openOne(size)}/silence`],
  ["projects", () => "/v1/projects?limit=1"],
  ["overview", () => "/v1/overview?limit=1"],
  ["log tail", () => `/v1/projects/${PROJECT}/logtail`],
  ["log tail of a rare template", () => `/v1/projects/${PROJECT}/logtail?template=rare`],
  ["numbers of two weeks", () => "/v1/numbers"],
  ["numbers of a project by rule", () => `/v1/numbers?project=${PROJECT}&by=rule`],
  ["audit", () => "/v1/audit"],
  ["a project's page", () => `/p/${PROJECT}`],
  ["readiness", () => "/readyz"],
];

interface Side {
  readonly box: TestBox;
  readonly size: Size;
  ask(path: string): Promise<void>;
  send(): Promise<void>;
  retain(): Promise<void>;
  read(): Promise<void>;
  restart(): Promise<void>;
}

async function side(data: string, size: Size): Promise<Side> {
  const at = await testBox({ data }, systemClock as never);
  const tab = signedIn(at);
  const { token } = (await at.api("POST", `/v1/projects/${PROJECT}/sources`, { name: "bench" }))
    .body;
  const event = (i: number) => JSON.stringify({ message: `login of user ${i}`, level: 200 });
  const lines = Array.from({ length: 50 }, (_, i) => event(i)).join("\n");
  const retention = createRetention(at.tenant.store, defaultRetention);
  const all = at.tenant.store.db.prepare("SELECT sum(length(last_message)) FROM alerts");
  return {
    box: at,
    size,
    async ask(path) {
      const { status } = path.startsWith("/v1") ? await at.api("GET", path) : await tab.get(path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
    },
    async send() {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/x-ndjson",
      };
      const sent = await fetch(`${at.url}/v1/ingest`, { method: "POST", headers, body: lines });
      const text = await sent.text();
      if (sent.status !== 202) throw new Error(text);
    },
    async retain() {
      for (let look = 0; look < 20; look++) for (let more = true; more; ) more = retention.slice();
    },
    async read() {
      all.get();
    },
    async restart() {
      await at.restart();
      // Else what it does after it listens would count as the other's.
      const rest = () => cpuOf(() => pause(30));
      for (let calm = 0, looks = 0; calm < 3; looks++) {
        if (looks === 1_000) throw new Error("the boxes don't come to rest after a start");
        calm = (await rest()) > 3 ? 0 : calm + 1;
      }
    },
  };
}

const ROUNDS = 5;

/** Milliseconds of CPU, in the rounds that others disturbed least. */
interface Cost {
  what: string;
  few: number;
  many: number;
}

/** By turns. */
async function compared(what: string, run: (isMany: boolean) => Promise<number>): Promise<Cost> {
  const [few, many]: [number[], number[]] = [[], []];
  for (let round = -2; round < ROUNDS; round++) {
    const [of, more] = [await run(false), await run(true)];
    if (round < 0) continue;
    few.push(of);
    many.push(more);
  }
  return { what, few: Math.min(...few), many: Math.min(...many) };
}

const ratios = ({ what, few, many }: Cost): Row[] => [
  { what, unit: "ratio", value: many / few, must: 2, hold: 3, lower: true },
  { what: "  CPU with ten times as much", unit: "ms", value: many, lower: true },
];

/** What costs much anyway may read all there is, and its ratio hardly shows it. */
function most(all: readonly Cost[], everything: Cost): Row {
  const added = ({ few, many }: Cost) => (many - few) / (everything.many - everything.few);
  const [first] = all.toSorted((a, b) => added(b) - added(a)) as [Cost];
  return {
    what: `the most that ten times as much adds (${first.what}) / reading so many more alerts once`,
    unit: "ratio",
    value: added(first),
    hold: 0.8,
    lower: true,
  };
}

/** This process's, with the client's. */
async function cpuOf(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
