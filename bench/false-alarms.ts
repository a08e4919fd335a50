import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRule } from "../src/core/alerts/rules.ts";
import { resolve } from "../src/core/alerts/verbs.ts";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { ruleCreate } from "../src/core/projects/rule.ts";
import { createSource, findSource, type Source } from "../src/core/projects/sources.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { openStore, type Store } from "../src/ground/store/store.ts";
import { createWriter, defaultWriterLimits, type Writer } from "../src/in/ingest/writer.ts";
import { handClock } from "../test/support/clock.ts";
import { withDirectory } from "./harness.ts";
import { csvRows } from "./template-quality.ts";

/**
 * node bench/false-alarms.ts FOLDER: replays the log sets of a folder (`*_structured.csv`, as loghub has them) by their own times,
 * up to four weeks of each, and counts what rules for new, unusual and missing messages open. Nobody knows of an incident in
 * them, so each alert counts as a false one. Somebody resolves all once a day.
 */

const DAY = 86_400;
const SPAN = 28 * DAY;

const RULES = {
  "new, 1 day": { match: { first_seen_days: 1 } },
  "new, 7 days": { match: { first_seen_days: 7 } },
  "new, 30 days": { match: { first_seen_days: 30 } },
  "unusual, 3 and 10": unusual(3, 10),
  "unusual, 5 and 20": unusual(5, 20),
  "missing, each": { missing: true },
  "missing, source": { missing: { source: "s" } },
};

function unusual(factor: number, at_least: number): object {
  return { match: { unusual: { factor, at_least } }, fire_after: { window_minutes: 60 } };
}

interface Line {
  at: number;
  text: string;
}

/** A line's time in Unix seconds, whichever columns say it; NaN where none does. */
function timeOf(row: Record<string, string>): number {
  const { Timestamp = "", Date: day = "", Time = "", Month = "" } = row;
  for (const unix of [Timestamp, Time]) if (/^\d{9,10}$/.test(unix)) return Number(unix);
  const clock = Time.replace(",", ".");
  const written =
    Month !== ""
      ? `${day} ${Month} 2005 ${clock} UTC`
      : /^\d{6}$/.test(day)
        ? `20${day.replace(/(..)(..)(..)/, "$1-$2-$3")}T${clock.replace(/(..)(..)(..)/, "$1:$2:$3")}Z`
        : /^\d\d-\d\d$/.test(day)
          ? `2017-${day}T${clock}Z`
          : /^\d{8}-/.test(clock)
            ? clock.replace(/^(....)(..)(..)-(\d+):(\d+):(\d+):.*/, (_, y, m, d, h, i, s) =>
                [y, m, d]
                  .join("-")
                  .concat("T", [h, i, s].map((n) => n.padStart(2, "0")).join(":"), "Z"),
              )
            : /^\d\d\.\d\d /.test(clock)
              ? `2017-${clock.replace(".", "-").replace(" ", "T")}Z`
              : day !== ""
                ? `${day}T${clock}Z`
                : `${clock} UTC`;
  return Math.floor(Date.parse(written) / 1000);
}

function linesOf(file: string): Line[] {
  const lines = csvRows(readFileSync(file, "utf8"))
    .map((row) => ({ at: timeOf(row), text: row["Content"] ?? "" }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at);
  // Its busiest four weeks.
  const begins = lines.map(
    ({ at }) => lines.filter((one) => one.at >= at && one.at < at + SPAN).length,
  );
  const first = lines[begins.indexOf(Math.max(...begins))]?.at ?? 0;
  return lines.filter(({ at }) => at >= first && at < first + SPAN);
}

/** How many alerts the rule opens on these lines. */
function replay(path: string, rule: object, lines: readonly Line[]): number {
  const clock = handClock();
  const now = () => Math.floor(clock.now() / 1000);
  const begun = lines[0]?.at ?? 0;
  clock.setWall(begun * 1000);
  const store = openStore({ path, kind: "box", clock, random: systemRandom });
  const { writer, source } = placeOf(store, rule);
  let tidied = begun;
  for (const [at, all] of Map.groupBy(lines, (line) => line.at)) {
    pass(writer, at, { now, set: (seconds) => clock.setWall(seconds * 1000) });
    if (at - tidied >= DAY) {
      tidied = at;
      const open = store.sql<[], number>("SELECT id FROM alerts WHERE state <> 'resolved'").pluck();
      for (const id of open.all()) store.write((tx) => resolve(tx, id, { reason: "quiet" }));
    }
    writer.process(
      all.map(({ text: message }) => ({
        source,
        event: { message, level: 400, keys: null, tags: null },
      })),
    );
  }
  const opened = store.sql<[], number>("SELECT count(*) FROM alerts").pluck().get() ?? 0;
  store.close();
  return opened;
}

function pass(
  writer: Writer,
  until: number,
  { now, set }: { now(): number; set(seconds: number): void },
): void {
  for (let next = writer.lookForMissing(); next !== null && next <= until; ) {
    if (next > now()) set(next);
    next = writer.lookForMissing();
  }
  set(until);
}

function placeOf(store: Store, rule: object): { writer: Writer; source: Source } {
  const source = store.write((tx) => {
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const given = { tenantId: "0".repeat(16), name: "s", retainLogs: false };
    const { token } = createSource(tx, project, given);
    const { name, ...body } = ruleCreate.parse({ name: "r", ...rule });
    createRule(tx, project, { name, body });
    return findSource(tx, token) as Source;
  });
  return { writer: createWriter(store, defaultWriterLimits), source };
}

const [folder = "."] = process.argv.slice(2);
await withDirectory(async (directory) => {
  const say = (cells: readonly (string | number)[]) =>
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  say(["set", "lines", "days", ...Object.keys(RULES)]);
  for (const file of readdirSync(folder).filter((name) => name.endsWith("_structured.csv"))) {
    const lines = linesOf(join(folder, file));
    const days = ((lines.at(-1)?.at ?? 0) - (lines[0]?.at ?? 0)) / DAY;
    const set = file.split("_")[0] ?? file;
    const opened = Object.values(RULES).map((rule, i) =>
      replay(join(directory, `${set}-${i}.db`), rule, lines),
    );
    say([set, lines.length, days.toFixed(1), ...opened]);
  }
});
