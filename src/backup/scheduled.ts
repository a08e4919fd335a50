import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { ownCommand } from "../kit/assets.ts";
import type { Log } from "../kit/log.ts";
import { readManifest } from "./verify.ts";

/** What `box serve --backup-dir` is told. */
export interface BackupPlan {
  dir: string;
  /** From one to the next. */
  hours: number;
  /** How many are kept. */
  keep: number;
}

export interface ScheduledBackups {
  /** A job of the scheduler. */
  job: { name: string; run(now: number): Promise<number> };
  /** What the last try said where it failed. */
  failure(): string | null;
  /** Ends a backup that is being made; what it has written so far goes with it. */
  stop(): Promise<void>;
}

const AGAIN_SECONDS = 900;

/**
 * Backups at regular times while a box serves, each in a process of its own: the copy, its proof and the
 * reading of every page never hold up a page or an event, and can be ended at once.
 */
export function scheduledBackups(
  plan: BackupPlan,
  { data, log }: { data: string; log: Log },
): ScheduledBackups {
  let child: ChildProcess | null = null;
  let failure: string | null = null;
  let stopped = false;

  const make = async (now: number): Promise<void> => {
    mkdirSync(plan.dir, { recursive: true, mode: 0o700 });
    const [program, ...words] = ownCommand();
    const file = join(plan.dir, nameOf(now));
    child = spawn(program, [...words, "backup", file, "--data", data, "--json"], {
      env: surroundings(),
      stdio: ["ignore", "ignore", "pipe"],
    });
    stepBack(child);
    const { code, said } = await ended(child);
    child = null;
    if (code !== 0) throw new Error(said.trim() || `it ended with ${code}`);
    prune(plan, file);
  };

  return {
    job: {
      name: "backup",
      async run(now) {
        const due = dueAt(plan);
        if (due > now || stopped) return due * 1000;
        try {
          await make(now);
          if (failure !== null) log.info("backups work again");
          failure = null;
          return (now + plan.hours * 3600) * 1000;
        } catch (error) {
          if (stopped) return (now + AGAIN_SECONDS) * 1000;
          failure = error instanceof Error ? error.message : String(error);
          log.error({ err: error, dir: plan.dir }, "the scheduled backup failed");
          return (now + AGAIN_SECONDS) * 1000;
        }
      },
    },
    failure: () => failure,
    async stop() {
      stopped = true;
      const running = child;
      if (running === null) return;
      running.kill("SIGKILL");
      await ended(running);
    },
  };
}

/** Unix seconds of the next one: the newest that lies there says when. */
function dueAt({ dir, hours }: BackupPlan): number {
  for (const name of backupsIn(dir)) {
    try {
      return readManifest(join(dir, name)).taken_at + Math.ceil(hours * 3600);
    } catch {
      // Not one to count on: the next older one may be.
    }
  }
  return 0;
}

/** `box-2026-01-05T09-00-00Z.db`: sorts by time. */
function nameOf(now: number): string {
  const stamp = new Date(now * 1000).toISOString().replace(".000", "");
  return `box-${stamp.replaceAll(":", "-")}.db`;
}

const NAME = /^box-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;

/** Newest first. */
function backupsIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => NAME.test(name))
      .sort()
      .reverse();
  } catch {
    return [];
  }
}

/** Never the one just made, which a clock that was ahead before may have made look old. */
function prune({ dir, keep }: BackupPlan, made: string): void {
  const others = backupsIn(dir).filter((name) => join(dir, name) !== made);
  for (const name of others.slice(Math.max(0, keep - 1)))
    for (const end of ["", ".json", ".json.next", ".key"])
      rmSync(join(dir, name + end), { force: true });
}

/** What concerns the serving process alone is not handed on: its supervisor's socket, its own settings. */
function surroundings(): NodeJS.ProcessEnv {
  const own = (name: string) =>
    name === "NOTIFY_SOCKET" ||
    name.startsWith("WATCHDOG_") ||
    (name.startsWith("BOX_") && name !== "BOX_CACHE_DIR");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own(name)));
}

function stepBack({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Refused by a strict host: it then shares the processor evenly.
  }
}

const SAID_MOST = 2000;

function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    let said = "";
    child.stderr?.on("data", (data: Buffer) => {
      said = (said + data.toString("utf8")).slice(0, SAID_MOST);
    });
    child.once("error", (error) => resolve({ code: null, said: error.message }));
    child.once("close", (code) => resolve({ code, said }));
  });
}
