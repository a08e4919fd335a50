/**
 * Measures the template miner: `node bench/templates.ts [quality|held|warm|cold|words|prefix|long|memory …]`, all by default,
 * each in a process of its own. Throughput is the median of 5 runs after 2 warm passes, beside a plain
 * `split(" ").join("_")` of the same lines in the same run, since lines/s alone say little about another machine.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Miner } from "../src/in/ingest/template/miner.ts";
import { dice, linesOf } from "./template-dice.ts";
import { loghubSets, reportHeld, reportQuality } from "./template-quality.ts";
import { SHAPES } from "./template-shapes.ts";

const RUNS = 5;

/** Processor time of this thread: what other programs do meanwhile doesn't count. */
function seconds(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1e6;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const fresh = (): Miner => new Miner({ limit: 10_000, rows: [] });

function report(name: string, lines: number, times: { mine: number[]; split: number[] }): void {
  const rate = lines / median(times.mine);
  const plain = lines / median(times.split);
  console.log(
    `${name.padEnd(34)}${Math.round(rate).toLocaleString("en").padStart(12)} lines/s   ${(rate / plain).toFixed(2)} of split+join`,
  );
}

let sink = 0;

function splitAll(lines: readonly string[]): void {
  for (const line of lines) sink += line.split(" ").join("_").length;
}

/** The same lines again and again, as in an incident. */
function warm(name: string, lines: readonly string[]): void {
  const miner = fresh();
  const pass = (): void => {
    for (const line of lines) miner.mine(line);
  };
  pass();
  pass();
  const times = { mine: [] as number[], split: [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    times.mine.push(seconds(pass));
    times.split.push(seconds(() => splitAll(lines)));
  }
  report(name, lines.length, times);
}

/** Lines that never come twice: five equal parts, timed one after the other, so a slope shows. */
function unseen(name: string, lines: readonly string[]): void {
  const miner = fresh();
  const times = { mine: [] as number[], split: [] as number[] };
  const part = Math.floor(lines.length / (RUNS + 1));
  for (let run = 0; run <= RUNS; run++) {
    const own = lines.slice(run * part, (run + 1) * part);
    const taken = seconds(() => {
      own.forEach((line, i) => {
        miner.mine(line);
        if (i % 100 === 99) miner.takeChanges();
      });
    });
    if (run > 0) times.mine.push(taken);
    if (run > 0) times.split.push(seconds(() => splitAll(own)));
  }
  report(name, part, times);
  const rates = times.mine.map((taken) => Math.round(part / taken / 1_000));
  console.log(`  thousands a second, part by part: ${rates.join(" ")}`);
}

function words(count: number, prefix: string): string[] {
  const choices = dice(11);
  const below = (limit: number): number => choices.below(limit);
  const word = (): string => {
    const length = 3 + below(8);
    return Array.from({ length }, () => String.fromCharCode(97 + below(26))).join("");
  };
  return Array.from(
    { length: count },
    () => `${prefix}${Array.from({ length: 8 }, word).join(" ")}`,
  );
}

/** A string in one piece, as a parser makes it. */
const flat = (line: string): string => Buffer.from(line).toString();

function memory(): void {
  const lines = words(10_000, "event ");
  globalThis.gc?.();
  const before = process.memoryUsage();
  const miner = fresh();
  for (const line of lines) miner.mine(line);
  miner.takeChanges();
  globalThis.gc?.();
  const after = process.memoryUsage();
  const used = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  console.log(`memory for ${miner.size} templates: ${(used / 1_048_576).toFixed(1)} MiB`);
}

/** Parts of what systems write, each line once, digits changed so that no line was seen before. */
function coldLines(): string[] {
  const choices = dice(3);
  const below = (limit: number): number => choices.below(limit);
  const lines = loghubSets().flatMap(({ content }) => content.map(({ line }) => line));
  const base = lines.length > 0 ? lines : linesOf(SHAPES, 1, 50).map(({ line }) => line);
  return [0, 1].flatMap((round) =>
    base.map(
      (line) =>
        `${line.replace(/\d/g, () => String(below(10)))} ${"x".repeat(round)}${below(1e9)}k`,
    ),
  );
}

const sections: Record<string, () => void> = {
  quality: reportQuality,
  held: reportHeld,
  warm: () => {
    const sets = loghubSets();
    const mixed = sets.flatMap(({ content }) => content.map(({ line }) => line));
    if (mixed.length > 0) warm("warm, research sets", mixed);
    const raw = sets.flatMap((set) => set.raw.map(({ line }) => line));
    if (raw.length > 0) warm("warm, with their headers", raw);
    warm(
      "warm, today's shapes",
      linesOf(SHAPES, 1, 50).map(({ line }) => line),
    );
  },
  cold: () => unseen("new lines of known templates", coldLines()),
  words: () => unseen("random words", words(120_000, "")),
  prefix: () =>
    unseen("random words, common prefix", words(120_000, "the request to the server failed with ")),
  long: () =>
    unseen(
      "64 KB messages, new shapes",
      words(600, "").map((line) =>
        flat(`${line} ${words(1, "").join(" ").repeat(1_200).slice(0, 65_000)}`),
      ),
    ),
  memory,
};

const asked = process.argv.slice(2);
if (asked.length === 1) sections[asked[0] ?? ""]?.();
else {
  for (const name of asked.length > 0 ? asked : Object.keys(sections)) {
    const script = fileURLToPath(import.meta.url);
    spawnSync(process.execPath, ["--expose-gc", script, name], { stdio: "inherit" });
  }
}
if (sink < 0) console.log(sink);
