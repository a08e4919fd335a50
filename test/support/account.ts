import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Where the suite wants it noted how much CPU its files took (`npm test -- --account`). */
const path = process.env["BOX_TEST_ACCOUNT"];

/** Seconds of CPU that this process took so far, and those of its children that have ended. */
export function spent(): readonly [own: number, children: number] {
  if (path === undefined) return [0, 0];
  const { user, system } = process.cpuUsage();
  // After the program's name in brackets; times are in hundredths.
  const words = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return [(user + system) / 1e6, (Number(words[13]) + Number(words[14])) / 100];
}

/** Notes what a file took since `from`. */
export function account(file: string, from: readonly [number, number] = [0, 0]): void {
  if (path === undefined || !isMainThread) return;
  const took = spent().map((seconds, i) => (seconds - (from[i] ?? 0)).toFixed(2));
  appendFileSync(path, `${took.join(" + ")} ${relative(process.cwd(), file)}\n`);
}

/** The sixty that took most, of what was noted at `accounts`. */
export function dearest(accounts: string): string {
  const cost = (line: string) =>
    Number.parseFloat(line) + Number.parseFloat(line.split(" + ")[1] ?? "");
  const lines = readFileSync(accounts, "utf8").trimEnd().split("\n");
  const first = lines.toSorted((a, b) => cost(b) - cost(a)).slice(0, 60);
  return `\nSeconds of CPU, of a process and of its children:\n${first.join("\n")}`;
}
