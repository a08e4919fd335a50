import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Where the suite wants it noted how much CPU its files took. */
const path = process.env["BOX_TEST_ACCOUNT"];

/** Seconds of CPU that this process took so far, and those of its children that have ended. */
export function spent(): readonly [own: number, children: number] {
  if (path === undefined) return [0, 0];
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  if (process.platform !== "linux") return [own, 0];
  // After the program's name in brackets; times are in hundredths.
  const words = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return [own, (Number(words[13]) + Number(words[14])) / 100];
}

/** Notes what a file took since `from`. */
export function account(file: string, from: readonly [number, number] = [0, 0]): void {
  if (path === undefined || !isMainThread) return;
  const took = spent().map((seconds, i) => (seconds - (from[i] ?? 0)).toFixed(2));
  appendFileSync(path, `${took.join(" + ")} ${relative(process.cwd(), file)}\n`);
}

interface Line {
  text: string;
  file: string;
  seconds: number;
}

function linesOf(accounts: string): Line[] {
  const lines = readFileSync(accounts, "utf8").trimEnd().split("\n");
  return lines.map((text) => {
    const [own = "", , children = "", ...words] = text.split(" ");
    return { text, file: words.join(" "), seconds: Number(own) + Number(children) };
  });
}

/** The sixty that took most, of what was noted at `accounts`. */
export function dearest(accounts: string): string {
  const lines = linesOf(accounts).toSorted((a, b) => b.seconds - a.seconds);
  const first = lines.slice(0, 60).map(({ text }) => text);
  return `\nSeconds of CPU, of a process and of its children:\n${first.join("\n")}`;
}

/** What one file of the suite for daily work may take of its CPU: a share, because machines differ. */
const SHARE = 1 / 10;

/** The files that take too much of the whole, and what to do; "" where none does. */
export function tooDear(accounts: string): string {
  const files = linesOf(accounts).filter(({ file }) => file.startsWith("test/"));
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  return files
    .filter(({ seconds }) => seconds > all * SHARE)
    .map(
      ({ file, seconds }) =>
        `TOO DEAR for npm test: ${file} takes ${seconds.toFixed(1)} of ${all.toFixed(1)} s of CPU. ` +
        "Leave some of its tests to npm run test:long (test/support/long.ts says how).",
    )
    .join("\n");
}
