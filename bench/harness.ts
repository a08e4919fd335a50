import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";

/** What one scenario measured, round by round. Only ratios within one run mean anything. */
export interface Row {
  what: string;
  value: number;
  unit: string;
  /** Least and most over the rounds, where there are rounds. */
  low?: number;
  high?: number;
  /** What must hold and what is aimed at; `lower`: smaller is better. */
  must?: number;
  aim?: number;
  lower?: boolean;
  /** What has to hold on any machine, also on a slow or busy one: a run that misses it fails. */
  hold?: number;
}

export interface Scenario {
  name: string;
  about: string;
  /** `quick` is the short form that CI runs. */
  run(quick: boolean): Promise<Row[]>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? high) + high) / 2;
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((p / 100) * sorted.length))] ?? Number.NaN;
}

/** A row from the rounds of one figure: its median with the spread. */
export function fromRounds(
  what: string,
  unit: string,
  values: readonly number[],
  more: Partial<Row> = {},
): Row {
  return {
    what,
    unit,
    value: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
    ...more,
  };
}

export function table(rows: readonly Row[]): string {
  const cells = [
    ["what", "median", "low", "high", "unit", "must", "aim", ""],
    ...rows.map((row) => [
      row.what,
      show(row.value),
      show(row.low),
      show(row.high),
      row.unit,
      show(row.must),
      show(row.aim),
      verdict(row),
    ]),
  ];
  const widths =
    cells[0]?.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0))) ?? [];
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function show(value: number | undefined): string {
  if (value === undefined) return "";
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toFixed(value < 1 ? 3 : 2);
}

const reaches = ({ value, lower }: Row, bound: number): boolean =>
  lower ? value <= bound : value >= bound;

/** Whether what has to hold on any machine doesn't. */
export const isBroken = (row: Row): boolean => row.hold !== undefined && !reaches(row, row.hold);

function verdict(row: Row): string {
  const { must, aim } = row;
  if (isBroken(row)) return `NOT HELD (${row.hold})`;
  if (aim !== undefined && reaches(row, aim)) return "aim";
  if (must === undefined) return "";
  return reaches(row, must) ? "must" : "SHORT";
}

/**
 * Appends the run to the history file and answers the rows whose value fell to less than half of the last one. What has
 * a bound that holds on any machine is judged by that.
 */
export function remember(file: string, scenario: string, rows: readonly Row[]): Row[] {
  const before = lastRun(file, scenario);
  appendFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), scenario, cpu: cpus()[0]?.model ?? "", rows })}\n`,
  );
  return rows.filter((row) => {
    const old = before.get(row.what);
    if (old === undefined || row.hold !== undefined || !row.unit.startsWith("ratio")) return false;
    return row.lower ? row.value > old * 2 : row.value < old / 2;
  });
}

function lastRun(file: string, scenario: string): Map<string, number> {
  let lines: string[] = [];
  try {
    lines = readFileSync(file, "utf8").trim().split("\n");
  } catch {
    // The first run makes the file.
  }
  const last = lines
    .map((line) => JSON.parse(line) as { scenario: string; rows: Row[] })
    .findLast((run) => run.scenario === scenario);
  return new Map((last?.rows ?? []).map((row) => [row.what, row.value]));
}

export interface Child {
  pid: number;
  /** What the process printed as its first line. */
  line: string;
  /** CPU seconds it has used so far, user and system. */
  cpu(): number;
  /** Bytes of anonymous memory, and of its resident set at its peak. */
  memory(): { anonymous: number; peak: number };
  stop(): Promise<void>;
}

/** Starts a process and waits for its first line on standard output. */
export function start(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Child> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...env },
    });
    // A scenario that fails leaves nothing running.
    const end = () => child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    const ended = new Promise<void>((done) => child.once("exit", () => done()));
    child.once("error", reject);
    child.once("exit", (code) =>
      reject(new Error(`${command} ended with ${code} before it was ready`)),
    );
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.includes("\n") || child.pid === undefined) return;
      const pid = child.pid;
      resolve({
        pid,
        line: text.slice(0, text.indexOf("\n")),
        cpu: () => cpuSeconds(pid),
        memory: () => memoryOf(pid),
        stop: () => {
          child.kill("SIGTERM");
          const hard = setTimeout(() => child.kill("SIGKILL"), 10_000);
          return ended.finally(() => clearTimeout(hard));
        },
      });
    });
  });
}

const TICKS = Number(execFileSync("getconf", ["CLK_TCK"]).toString());

/** CPU seconds a process has used so far, user and system. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function memoryOf(pid: number): { anonymous: number; peak: number } {
  const kib = (file: string, name: string) =>
    Number(
      new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(
        readFileSync(`/proc/${pid}/${file}`, "utf8"),
      )?.[1] ?? 0,
    );
  return {
    anonymous: kib("smaps_rollup", "Anonymous") * 1024,
    peak: kib("status", "VmHWM") * 1024,
  };
}

/** Milliseconds of processor time that a process's main thread has had. */
export const mainThreadMs = ({ pid }: Pick<Child, "pid">): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** A directory that is gone after `use`. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "box-bench-"));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function hasCommand(name: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
