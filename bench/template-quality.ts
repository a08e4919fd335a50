import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Miner } from "../src/in/ingest/template/miner.ts";
import { dice, type Labelled, linesOf, type Make, shuffled } from "./template-dice.ts";
import { eventsOf } from "./template-events.ts";
import { SHAPES } from "./template-shapes.ts";

/** Research logs with labels, where a copy lies beside the repository; never part of it. */
const LOGHUB = new URL(`${process.env["LOGHUB"] ?? "../../shared/data/loghub"}/`, import.meta.url);

export interface Score {
  /** Share of the lines whose group is exactly the labelled set of lines. */
  ga: number;
  /** F1 over groups. */
  fga: number;
}

/** What the miner makes of labelled lines. */
export interface Quality extends Score {
  /** GA by the ids that ingest answered, before any merge. */
  firstSight: number;
  /** Share of the lines whose template, when they came, was the one they have at the end. */
  settled: number;
}

/** Grouping accuracy and F1 over groups of predicted against labelled groups. */
export function score(truth: readonly string[], predicted: readonly string[]): Score {
  const wanted = groups(truth);
  const found = groups(predicted);
  let lines = 0;
  let exact = 0;
  for (const members of found.values()) {
    const want = wanted.get(truth[members[0] as number] as string) as number[];
    if (want.length !== members.length || !want.every((line, i) => line === members[i])) continue;
    lines += members.length;
    exact++;
  }
  return { ga: lines / truth.length, fga: (2 * exact) / (wanted.size + found.size) };
}

function groups(labels: readonly string[]): Map<string, number[]> {
  const byLabel = new Map<string, number[]>();
  labels.forEach((label, line) => {
    const members = byLabel.get(label);
    if (members === undefined) byLabel.set(label, [line]);
    else members.push(line);
  });
  return byLabel;
}

/** Mines the lines in order, and scores the templates at the end and at first sight. */
export function qualityOf(lines: readonly Labelled[]): Quality {
  const miner = new Miner({ limit: 10_000, rows: [] });
  const seen = lines.map(({ line }) => {
    const { id, root } = miner.mine(line);
    return { id, root: root.id };
  });
  const truth = lines.map(({ event }) => event);
  const final = seen.map(({ id }) => miner.rootOf(id));
  return {
    ...score(truth, final),
    firstSight: score(
      truth,
      seen.map(({ id }) => id),
    ).ga,
    settled: seen.filter(({ root }, i) => root === final[i]).length / lines.length,
  };
}

export interface LabelledSet {
  name: string;
  content: Labelled[];
  /** The same lines with the header they were written with. */
  raw: Labelled[];
}

/** The labelled sets at hand: none where the research data is not. */
export function loghubSets(): LabelledSet[] {
  if (!existsSync(LOGHUB)) return [];
  const files = readdirSync(LOGHUB).filter((file) => file.endsWith("_structured.csv"));
  return files.sort().map((file) => {
    const name = file.slice(0, file.indexOf("_"));
    const rows = csvRows(readFileSync(new URL(file, LOGHUB), "utf8"));
    const labelled = (line: (row: Row) => string): Labelled[] =>
      rows.map((row) => ({ event: row["EventId"] ?? "", line: line(row) }));
    return { name, content: labelled((row) => row["Content"] ?? ""), raw: labelled(rawLine) };
  });
}

type Row = Record<string, string>;

/** The line as its system wrote it, put together again from the columns of its kind of file. */
function rawLine(row: Row): string {
  const part = (name: string): string => row[name] ?? "";
  const pid = part("PID") === "" ? "" : `[${part("PID")}]`;
  const content = part("Content");
  if ("NodeRepeat" in row) {
    const header = "Label Timestamp Date Node Time NodeRepeat Type Component Level".split(" ");
    return `${header.map(part).join(" ")} ${content}`;
  }
  if ("LogId" in row) {
    return `${"LogId Node Component State Time Flag".split(" ").map(part).join(" ")} ${content}`;
  }
  if ("Location" in row) {
    const header = "Label Timestamp Date User Month Day Time Location".split(" ").map(part);
    return `${header.join(" ")} ${part("Component")}${pid}: ${content}`;
  }
  if ("Month" in row) {
    const header = "Month Date Time Level".split(" ").map(part).join(" ");
    return `${header} ${part("Component")}${pid}: ${content}`;
  }
  if ("Program" in row) return `[${part("Time")}] ${part("Program")} - ${content}`;
  if ("Process" in row) {
    return `${part("Date")} ${part("Time")} ${part("Level")} [${part("Process")}] ${part("Component")}: ${content}`;
  }
  if ("Date" in row) {
    const ids = ["Pid", "Tid"].map(part).filter((id) => id !== "");
    return `${[part("Date"), part("Time"), ...ids, part("Level")].join(" ")} ${part("Component")}: ${content}`;
  }
  if ("Pid" in row) return `${part("Time")}|${part("Component")}|${part("Pid")}|${content}`;
  return `[${part("Time")}] [${part("Level")}] ${content}`;
}

/** Reads a comma-separated file with a head line (RFC 4180). */
export function csvRows(text: string): Row[] {
  const rows: string[][] = [[]];
  let field = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quoted && char === '"' && text[i + 1] === '"') field += text[++i];
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "," || char === "\n")) {
      rows.at(-1)?.push(field);
      field = "";
      if (char === "\n") rows.push([]);
    } else if (char !== "\r" || quoted) field += char;
  }
  rows.at(-1)?.push(field);
  const [names = [], ...lines] = rows;
  const whole = lines.filter((line) => line.length === names.length);
  return whole.map((line) => Object.fromEntries(names.map((name, i) => [name, line[i] ?? ""])));
}

const percent = (value: number): string => (value * 100).toFixed(2).padStart(7);

const row = (name: string, parts: readonly number[]): void =>
  console.log(`${name.padEnd(16)}${parts.map((part) => percent(part).padStart(10)).join("")}`);

/** Prints what the miner makes of every labelled set at hand. */
export function reportQuality(): void {
  const sets = loghubSets();
  console.log(
    `${"set".padEnd(16)}        GA       FGA  at first   settled    raw GA   raw FGA raw first`,
  );
  const rows = sets.map(({ name, content, raw }) => {
    const [own, headed] = [qualityOf(content), qualityOf(raw)];
    const parts = [own.ga, own.fga, own.firstSight, own.settled];
    return { name, parts: [...parts, headed.ga, headed.fga, headed.firstSight] };
  });
  for (const { name, parts } of rows) row(name, parts);
  const sum = (i: number): number => rows.reduce((all, { parts }) => all + (parts[i] ?? 0), 0);
  if (rows.length > 0) row("average", rows[0]?.parts.map((_, i) => sum(i) / rows.length) ?? []);
  reportShapes("earlier shapes", SHAPES);
  reportShapes("shown half", eventsOf("shown"));
  reportOrder(sets);
}

/** Prints what the miner makes of the half of the events that no rule was made for. */
export function reportHeld(): void {
  reportShapes("held half", eventsOf("held"));
}

function reportShapes(name: string, events: readonly Make[]): void {
  const each = [1, 2, 3, 4, 5].map((seed) => qualityOf(linesOf(events, seed, 20)));
  const mean = (part: keyof Quality): number =>
    each.reduce((sum, one) => sum + one[part], 0) / each.length;
  row(name, [mean("ga"), mean("fga"), mean("firstSight"), mean("settled")]);
}

/** How much the order of lines, and the company of other systems, changes. */
function reportOrder(sets: readonly LabelledSet[]): void {
  if (sets.length === 0) return;
  let widest = 0;
  for (const { content } of sets) {
    const straight = qualityOf(content).ga;
    for (let seed = 1; seed <= 5; seed++) {
      const ga = qualityOf(shuffled(content, dice(seed))).ga;
      widest = Math.max(widest, Math.abs(ga - straight));
    }
  }
  console.log(`largest change of GA in 5 shuffles of each set ${percent(widest)}`);
  const miner = new Miner({ limit: 10_000, rows: [] });
  const all = sets.flatMap(({ name, content }) => content.map((line) => ({ ...line, name })));
  const mixed = shuffled(all, dice(7)).map((line) => ({ ...line, id: miner.mine(line.line).id }));
  const changes = sets.map(({ name, content }) => {
    const own = mixed.filter((line) => line.name === name);
    const truth = own.map(({ event }) => event);
    const together = score(
      truth,
      own.map(({ id }) => miner.rootOf(id)),
    );
    return { name, change: together.ga - qualityOf(content).ga };
  });
  const average = changes.reduce((sum, { change }) => sum + change, 0) / changes.length;
  console.log(`all systems in one miner: average change of GA ${percent(average)}`);
  for (const { name, change } of changes) {
    if (Math.abs(change) > 0.001) console.log(`  ${name}${percent(change)}`);
  }
  const again = mixed.filter(({ line, id }) => miner.mine(line).id !== id).length;
  console.log(`lines with another id on a second pass: ${again} of ${mixed.length}`);
}
