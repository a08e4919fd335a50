import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRule } from "../src/core/alerts/rules.ts";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { ruleCreate } from "../src/core/projects/rule.ts";
import { createSource, findSource, type Source } from "../src/core/projects/sources.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { openStore, type Store } from "../src/ground/store/store.ts";
import type { Arrival } from "../src/in/ingest/arrival.ts";
import { dryRunWrite } from "../src/in/ingest/dry-run/dry-run.ts";
import { createDryRunner } from "../src/in/ingest/dry-run/runner.ts";
import { sweepHours } from "../src/in/ingest/hour-rows.ts";
import { createWriter, defaultWriterLimits, type Writer } from "../src/in/ingest/writer.ts";
import { fromRounds, type Row, type Scenario, withDirectory } from "./harness.ts";
import { open } from "./scale.ts";

/** What rules that ask for new, unusual or missing messages cost, and what is kept for them. */
export const habits: Scenario = {
  name: "habits",
  about:
    "rules for what is new, unusual or missing: CPU of an event, disk and memory of five weeks",
  run: (quick) =>
    withDirectory(async (directory) => [
      ...speed(directory, quick),
      ...(await size(open(directory, "size"), quick)),
    ]),
};

const BATCH = 500;
const SHAPES = 1000;
/** Of each shape in a minute. */
const EACH = 5;

/** "none" has a rule, too, which looks at each event. */
const RULES = {
  none: { match: { min_level: 500 } },
  new: { match: { first_seen_days: 30 } },
  unusual: { match: { unusual: { factor: 5, at_least: 10 } } },
  missing: { missing: true },
};

function placeOf(
  store: Store,
  rule: object,
  retainLogs = false,
): { writer: Writer; source: Source } {
  const source = store.write((tx) => {
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const given = { tenantId: "0123456789abcdef", name: "s", retainLogs };
    const { name, ...body } = ruleCreate.parse({ name: "r", ...rule });
    createRule(tx, project, { name, body });
    return findSource(tx, createSource(tx, project, given).token) as Source;
  });
  return { writer: createWriter(store, defaultWriterLimits), source };
}

/** Texts of which no two are one template. */
function texts(n: number): string[] {
  const letters = (i: number) =>
    [...String(i + 10_000)].map((digit) => "kamotelisu"[Number(digit)]).join("");
  return Array.from({ length: n }, (_, i) => `${letters(i)} ${letters(7 * i + 3)} has ended`);
}

const arrivals = (source: Source, messages: readonly string[]): Arrival[] =>
  messages.map((message) => ({ source, event: { message, level: 400, keys: null, tags: null } }));

/**
 * CPU of an event of whole hours: each minute each template comes five times, its lines are kept, and the kinds take turns within
 * it. So the reads of an hour's start and the writes of each minute are in it.
 */
function speed(directory: string, quick: boolean): Row[] {
  const messages = texts(SHAPES);
  // A Monday in January, at noon.
  let at = Date.UTC(2026, 0, 5, 12) / 1000;
  const clock = { ...systemClock, now: () => at * 1000 };
  const kinds = Object.entries(RULES).map(([name, rule]) => {
    const store = openStore({
      path: join(directory, `${name}.db`),
      kind: "box",
      clock,
      random: systemRandom,
    });
    const { writer: first, source } = placeOf(store, rule, true);
    const all = arrivals(source, messages);
    first.process(all);
    first.finish();
    plantDays(store, at, { n: 60 * EACH, until: 1 });
    store.db.exec("UPDATE count_series SET since = 0");
    const writer = createWriter(store, defaultWriterLimits);
    return {
      name,
      store,
      writer,
      halves: [all.slice(0, BATCH), all.slice(BATCH)],
      took: [] as number[],
    };
  });
  const hours = quick ? 1 : 2;
  for (let minute = -5; minute < hours * 60; minute++, at += 60)
    for (const [turn] of kinds.entries()) {
      const kind = kinds[(turn + minute + 2 * kinds.length) % kinds.length];
      if (kind === undefined) continue;
      const before = process.cpuUsage();
      for (let i = 0; i < 2 * EACH; i++) kind.writer.process(kind.halves[i % 2] as Arrival[]);
      const { user, system } = process.cpuUsage(before);
      if (minute >= 0) kind.took.push((user + system) / (2 * EACH * BATCH));
    }
  for (const { store } of kinds) store.close();
  const none = kinds[0]?.took ?? [];
  return kinds.flatMap(({ name, took }) => {
    const what = name === "none" ? "no rule asks" : `a rule asks for what is ${name}`;
    const cpu = fromRounds(`CPU of an event, ${what}`, "µs", took);
    if (name === "none") return [cpu];
    const ratios = took.map((one, i) => one / (none[i] ?? Number.NaN));
    const first = ratios.filter((_, i) => i % 60 === 0);
    return [
      cpu,
      sureOf("beside no rule, of a minute", ratios),
      {
        what: "of all minutes together",
        value: sum(took) / sum(none),
        unit: "×",
        must: 1.03,
        lower: true,
      },
      fromRounds("of an hour's first minute", "×", first),
    ];
  });
}

const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);

/** The median, and between what it lies with 95 %. */
function sureOf(what: string, values: readonly number[]): Row {
  const sorted = [...values].sort((a, b) => a - b);
  const { length } = sorted;
  const off = 0.98 * Math.sqrt(length);
  const [low, high] = [Math.floor(length / 2 - off), Math.ceil(length / 2 + off)];
  const more = { low: sorted[low] ?? Number.NaN, high: sorted[high] ?? Number.NaN };
  return { ...fromRounds(what, "×", values), ...more, must: 1.03, lower: true };
}

/** Copies today's counts to the days before, `n` in each hour. */
function plantDays(store: Store, at: number, { n, until }: { n: number; until: number }): void {
  const today = Math.floor(at / DAY);
  for (let back = DAYS; back >= until; back--) {
    store.write((tx) => {
      tx.sql<[{ back: number; today: number }]>(
        `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap)
          SELECT series_id, day - $back, key, ${24 * n}, '[${new Array(24).fill(n)}]', (day - $back) * 86400 + 86000, 400
          FROM hour_counts WHERE day = $today`,
      ).run({ back, today });
    });
  }
}

const DAYS = 35;
const DAY = 86_400;

/** 10,000 templates that come each hour for five weeks. */
async function size(store: Store, quick: boolean): Promise<Row[]> {
  const shapes = quick ? 1000 : 10_000;
  const { writer, source } = placeOf(store, RULES.missing);
  const messages = texts(shapes);
  const before = heap();
  for (let i = 0; i < shapes; i += BATCH)
    writer.process(arrivals(source, messages.slice(i, i + BATCH)));
  const memory = heap() - before;
  writer.finish();
  const pages = () => store.db.pragma("page_count", { simple: true }) as number;
  const empty = pages();
  const today = Math.floor(Date.now() / 1000 / DAY);
  for (let back = DAYS; back > 0; back--) {
    store.write((tx) => {
      tx.sql<[{ back: number; today: number }]>(
        `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap)
          SELECT series_id, day - $back, key, 240, '[${new Array(24).fill(10)}]', (day - $back) * 86400 + 86000, 400
          FROM hour_counts WHERE day = $today`,
      ).run({ back, today });
    });
    // As the box does it: of a day that is over.
    const at = { at: (today - back + 1) * DAY };
    store.write(
      (tx) => void (sweepHours({ ...tx, ...at }, 20_000) && sweepHours({ ...tx, ...at }, 20_000)),
    );
  }
  const kept = store.sql<[], number>("SELECT count(*) FROM hour_counts").pluck().get() ?? 0;
  const searches = Array.from({ length: 5 }, () => searchSlices(store));
  const bytes = (pages() - empty) * (store.db.pragma("page_size", { simple: true }) as number);
  const plots = await plotSlices(store);
  store.close();
  const row = (what: string, value: number, unit: string): Row => ({ what, value, unit });
  return [
    row(`${shapes} templates, ${DAYS} days: rows kept`, kept, ""),
    row("disk of the days that are over", bytes / 2 ** 20, "MiB"),
    row("memory of templates, counts and their book", memory / 2 ** 20, "MiB"),
    fromRounds(
      "a start's search for what is missing, CPU",
      "ms",
      searches.map((slices) => slices.reduce((sum, ms) => sum + ms, 0)),
    ),
    fromRounds(
      "its longest slice, CPU of the thread",
      "ms",
      searches.map((slices) => Math.max(...slices)),
      { must: 20, lower: true },
    ),
    ...plots.map((ms, n) => ({
      what: `plot ${n + 1} of a process: the longest slice of the loop meanwhile, CPU`,
      value: ms,
      unit: "ms",
      must: 20,
      lower: true,
    })),
  ];
}

/** What the slices of a start's search take of the thread that answers, garbage of others included. */
function searchSlices(store: Store): number[] {
  const slices: number[] = [];
  const fresh = createWriter(store, defaultWriterLimits);
  for (let next: number | null = 0; next !== null && next * 1000 <= Date.now(); ) {
    const from = process.threadCpuUsage();
    next = fresh.lookForMissing();
    const { user, system } = process.threadCpuUsage(from);
    slices.push((user + system) / 1000);
  }
  return slices;
}

/** Each plot's longest turn of the loop, by its own processor time: the plot itself is drawn in a thread, which the first starts. */
async function plotSlices(store: Store): Promise<number[]> {
  const runner = createDryRunner({ path: store.db.name, clock: systemClock });
  const longest: number[] = [];
  for (const match of [{ first_seen_days: 30 }, RULES.unusual.match]) {
    let last = process.threadCpuUsage();
    let most = 0;
    let isOver = false;
    const turn = () => {
      const { user, system } = process.threadCpuUsage(last);
      most = Math.max(most, (user + system) / 1000);
      last = process.threadCpuUsage();
      if (!isOver) setTimeout(turn, 1);
    };
    turn();
    const input = dryRunWrite.parse({ rule: { name: "r", match }, weeks: true });
    await runner.run(1, input);
    isOver = true;
    longest.push(most);
  }
  await runner.close();
  return longest;
}

function heap(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
