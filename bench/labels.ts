import { alertFacets } from "../src/core/alerts/facets.ts";
import { LabelBook } from "../src/core/alerts/label-book.ts";
import { changeLadder } from "../src/core/alerts/ladders.ts";
import { createRule } from "../src/core/alerts/rules.ts";
import { createSweep } from "../src/core/alerts/sweep.ts";
import { triage } from "../src/core/alerts/triage.ts";
import { insertLadder } from "../src/core/projects/ladders.ts";
import { getProject } from "../src/core/projects/projects.ts";
import { ruleReplace } from "../src/core/projects/rule.ts";
import type { Source } from "../src/core/projects/sources.ts";
import { silentLog } from "../src/ground/kit/log.ts";
import { takeSequence } from "../src/ground/store/meta.ts";
import type { Store } from "../src/ground/store/store.ts";
import { createWriter, defaultWriterLimits } from "../src/in/ingest/writer.ts";
import { fromRounds, type Row, type Scenario, withDirectory } from "./harness.ts";
import { boxTarget } from "./ingest.ts";
import { closedLoop } from "./load.ts";
import { open, seed } from "./scale.ts";

const ALERTS = 10_000;
const RULES = 20;

export const labels: Scenario = {
  name: "labels",
  about: "what labels cost an event, a list with facets, and a ladder of 20 rules changed",
  run: (quick) =>
    withDirectory(async (directory) => {
      const store = open(directory, "labels");
      seed(store, 1);
      const rounds = quick ? 5 : 20;
      const { rows, heard } = written(store, rounds);
      rows.push(...(await listed(store, rounds)));
      rows.push(...followed(store, quick ? 2 : 5));
      store.close();
      return [...rows, ...(await shares(heard, quick))];
    }),
};

const EIGHT = {
  host: "db7.example.org",
  service: "payments-api",
  region: "eu-central-1",
  zone: "b",
  env: "production",
  team: "payments",
  version: "2026.11.3",
  instance: "10.0.4.17:9100",
};

/** Milliseconds of processor time: on a machine that does other work, too, only these mean anything. */
function spent(work: () => unknown): number {
  const from = process.cpuUsage();
  work();
  return since(from);
}

function since(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

type KeysOf = (i: number) => Record<string, string> | null;

const KINDS: Record<string, KeysOf> = {
  "no keys": () => null,
  "eight equal keys": () => EIGHT,
  "one of eight varies": (i) => ({ ...EIGHT, instance: `10.0.4.${i % 200}:9100` }),
};

/** The processor time of the writer alone, without the request around it; and what of it alerts take to hear labels. */
function written(store: Store, rounds: number): { rows: Row[]; heard: Map<string, number[]> } {
  const writer = createWriter(store, defaultWriterLimits);
  const source = store.sql("SELECT id, name, project_id AS projectId FROM sources").get() as Source;
  store.write((tx) =>
    createRule(tx, getProject(tx, "p"), { name: "all", body: ruleReplace.parse({}) }),
  );
  const [batches, each] = [40, 200];
  const batchOf = (what: string, keysOf: KeysOf) =>
    Array.from({ length: each }, (_, i) => ({
      source: { ...source, retainLogs: false },
      // As they come: strings of their own.
      event: JSON.parse(
        JSON.stringify({ message: `it is ${what}`, level: 400, tags: null, keys: keysOf(i) }),
      ),
    }));
  const { hear } = LabelBook.prototype;
  const kinds = Object.entries(KINDS).map(([what, keysOf]) => ({
    what,
    keysOf,
    us: [] as number[],
  }));
  const heard = new Map(kinds.map(({ what }) => [what, [] as number[]]));
  // The first rounds warm up.
  for (let round = -3; round < rounds; round++)
    for (const { what, keysOf, us } of kinds) {
      const spentOn = { hearing: 0, deaf: 0 };
      for (let n = 0; n < 2 * batches; n++) {
        // By turns, since the machine's own pace drifts.
        const how = n % 2 === 0 ? "hearing" : "deaf";
        LabelBook.prototype.hear = how === "deaf" ? () => false : hear;
        const batch = batchOf(what, keysOf);
        spentOn[how] += (1000 * spent(() => writer.process(batch))) / (batches * each);
      }
      if (round < 0) continue;
      us.push(spentOn.hearing);
      heard.get(what)?.push(spentOn.hearing - spentOn.deaf);
    }
  LabelBook.prototype.hear = hear;
  writer.finish();
  const rows = kinds.map(({ what, us }) =>
    fromRounds(`an event in the writer: ${what}`, "µs CPU", us),
  );
  return { rows, heard };
}

/** What it is of all that an event costs, by itself in a request or one of a hundred lines. */
async function shares(heard: ReadonlyMap<string, number[]>, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const isLines of [false, true]) {
    const how = isLines ? "one of 100 lines" : "a request of its own";
    const us = await wholeEvent(isLines, quick);
    rows.push(fromRounds(`a whole event, ${how}`, "µs CPU", us));
    // The cheapest round, so that labels aren't a small share of a slow machine's time.
    const least = Math.min(...us);
    for (const [what, costs] of heard)
      if (what !== "no keys")
        rows.push(
          fromRounds(
            `labels of an event, ${how}: ${what}`,
            "ratio of its CPU",
            costs.map((cost) => cost / least),
            { must: 0.05, lower: true },
          ),
        );
  }
  return rows;
}

async function wholeEvent(isLines: boolean, quick: boolean): Promise<number[]> {
  const { cpu, stop, each, ...target } = await boxTarget(isLines);
  const us: number[] = [];
  // The first round makes the templates.
  for (let round = -1; round < (quick ? 2 : 5); round++)
    await withDirectory(async (directory) => {
      const [before, seconds] = [cpu(), 2];
      const { rate } = await closedLoop({ ...target, connections: 64, directory, seconds });
      if (round >= 0) us.push(((cpu() - before) * 1e6) / (rate * seconds * each));
    });
  await stop();
  return us;
}

async function listed(store: Store, rounds: number): Promise<Row[]> {
  fill(store);
  const facets = (of: Store) => alertFacets(of, { q: "", states: ["open"] });
  const took: number[] = [];
  const toAnew: number[] = [];
  for (let round = -2; round < rounds; round++) {
    // One has changed since the page before.
    store.write((tx) => {
      const of = [takeSequence(tx), round + 3] as const;
      tx.sql<[seq: number, id: number]>("UPDATE alerts SET updated_seq = ? WHERE id = ?").run(
        ...of,
      );
    });
    const begun = process.cpuUsage();
    await facets(store);
    const followed = since(begun);
    await triage(store, { limit: 50, order: "need", states: ["open"] });
    const page = since(begun);
    // Another reader of the same file remembers nothing.
    const again = process.cpuUsage();
    await facets(Object.create(store));
    if (round < 0) continue;
    took.push(page);
    toAnew.push(followed / since(again));
  }
  return [
    fromRounds(
      "a list page with facets over 10,000 open alerts, of which one changed",
      "ms CPU",
      took,
      { must: 15, lower: true },
    ),
    fromRounds("facets after one changed / counted anew", "ratio of CPU", toAnew, {
      must: 0.4,
      lower: true,
    }),
  ];
}

const steps = (...minutes: number[]) =>
  minutes.map((after_minutes) => ({
    accounts: [],
    schedules: [],
    after_minutes,
    repeat_minutes: 0,
  }));

/** 20 rules refer to one ladder: the write that changes it, and the turns of the loop in which the alerts follow. */
function followed(store: Store, rounds: number): Row[] {
  const body = (...minutes: number[]) => ({
    steps: steps(...minutes),
    passes: 1,
    pass_after_minutes: null,
    team: "",
  });
  store.write((tx) => {
    insertLadder(tx, { name: "l", ...body(60) });
    const all = ruleReplace.parse({ ladder: "l" });
    for (let i = 0; i < RULES; i++)
      createRule(tx, getProject(tx, "p"), { name: `l${i}`, body: all });
    tx.db.exec(
      "UPDATE alerts SET rule_id = (SELECT id FROM rules WHERE name = 'l' || (alerts.id % 20))",
    );
  });
  const sweep = createSweep(store, silentLog);
  const [write, longest, whole] = [[] as number[], [] as number[], [] as number[]];
  for (let round = -1; round < rounds; round++) {
    const to = { name: "l", ...body(60, 120 + round) };
    const first = spent(() => store.write((tx) => changeLadder(tx, { name: "l", to })));
    const turns: number[] = [];
    let next: number | null = 0;
    while (next !== null && next <= Date.now() / 1000)
      turns.push(
        spent(() => {
          next = sweep.run(0);
        }),
      );
    // The first one warms up.
    if (round < 0) continue;
    write.push(first);
    longest.push(Math.max(...turns));
    whole.push(turns.reduce((sum, ms) => sum + ms, first));
  }
  const left = store.sql("SELECT count(*) FROM ladder_followers").pluck().get();
  if (left !== 0) throw new Error(`${left} alerts have not followed`);
  const what = "a ladder of 20 rules with 10,000 open alerts";
  return [
    fromRounds(`${what}: the write`, "ms CPU", write),
    fromRounds(`${what}: longest turn of the loop`, "ms CPU", longest, { must: 50, lower: true }),
    fromRounds(`${what}: until all have followed`, "ms CPU", whole),
  ];
}

/** Hosts, services and a zone, as a hundred machines have them. */
function fill(store: Store): void {
  const now = Math.floor(Date.now() / 1000);
  store.write((tx) => {
    tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ALERTS})
      INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen, last_seen,
        last_message, identifiers, investigate, updated_seq, opened_at, ladder_from, labels)
      SELECT 1, 1, 'r0', 'seed:' || i, 'open', 't', 'payment <*> failed', 200 + 100 * (i % 4), 1, ${now}, ${now},
        'payment ' || i || ' failed', '{"host":"web-' || (i % 100) || '"}', 0, 0, ${now}, ${now},
        json_object('host', 'web-' || (i % 100), 'service', 's' || (i % 12), 'zone', 'z' || (i % 3), 'n', '' || i) FROM n`);
  });
  store.db.pragma("wal_checkpoint(TRUNCATE)");
}
