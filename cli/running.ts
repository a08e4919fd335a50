import type { Running } from "../src/app/parts.ts";
import type { Clock } from "../src/ground/kit/clock.ts";
import type { Log } from "../src/ground/kit/log.ts";
import { createNotifier } from "../src/ground/kit/notify.ts";
import { returnSpareMemory } from "../src/ground/kit/spare-memory.ts";
import { StoreFault } from "../src/ground/store/faults.ts";
import { exitCodeOf, exitCodes } from "./exit.ts";

/** Ends the process after a failed write or sync: 74, or 65 where SQLite found damage (contract §11). */
export function endOnFatal(log: Log): (error: unknown) => never {
  return (error) => {
    if (error instanceof StoreFault) {
      log.fatal({ err: error }, "ending");
      process.exit(exitCodeOf(error));
    }
    log.fatal(
      { err: error },
      "storage fault, or memory may differ from the files: the process ends so that it reads them again",
    );
    const damaged = String((error as { code?: string }).code).startsWith("SQLITE_CORRUPT");
    process.exit(damaged ? exitCodes.damaged : exitCodes.storage);
  };
}

const STOPPING = ["SIGTERM", "SIGINT"] as const;

/** Keeps what runs now: a machine that stands by may become one that serves. */
export function keptRunning(deps: { log: Log; clock: Clock }): (now: Running) => Promise<void> {
  let running: Running | null = null;
  return async (now) => {
    const isFirst = running === null;
    running = now;
    if (!isFirst) return;
    await keepRunning(
      {
        url: now.url,
        reload: () => running?.reload(),
        drain: async (atOnce) => running?.drain?.(atOnce),
        stop: async () => running?.stop(),
        isWell: () => running?.isWell() ?? true,
      },
      deps,
    );
  };
}

/** Reports to the service manager that the role is ready, and its state. Stops it on SIGTERM or SIGINT. */
export async function keepRunning(
  running: Running,
  deps: { log: Log; clock: Clock },
): Promise<void> {
  const { log, clock } = deps;
  surviveClosedPipes();
  const notifier = await createNotifier(process.env);
  const unwatch = notifier.watch(clock, running.isWell);
  returnSpareMemory(clock);
  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, "stopping");
    notifier.stopping();
    const hurry = new AbortController();
    // The next signal ends the wait, and one more the process.
    const unheed = onEnd(() => hurry.abort());
    const unextend = notifier.extend(clock);
    await running.drain?.(hurry.signal);
    unextend();
    unheed();
    unwatch();
    await running.stop();
    // Where a store is upgraded, an exit would wait for its thread. That is done anew at the next start.
    const { isUpgrading } = await import("../src/app/box-upgrade.ts");
    if (isUpgrading()) process.kill(process.pid, "SIGKILL");
    process.exit(0);
  };
  onEnd((signal) => void stop(signal));
  process.on("SIGHUP", () => {
    try {
      running.reload();
    } catch (error) {
      log.error({ err: error }, "the TLS files could not be read again: the old ones stay in use");
    }
  });
  process.on("unhandledRejection", (error) => {
    log.fatal({ err: error }, "unhandled rejection");
    process.exit(exitCodeOf(error));
  });
  // Whoever hears of it may send a signal at once.
  process.stdout.write(`listening on ${running.url}\n`);
  notifier.ready();
}

/** Heeds the next signal to end. Returns a function that heeds it no longer. */
function onEnd(heed: (signal: NodeJS.Signals) => void): () => void {
  const heard = (signal: NodeJS.Signals) => {
    end();
    heed(signal);
  };
  const end = () => {
    for (const signal of STOPPING) process.removeListener(signal, heard);
  };
  for (const signal of STOPPING) process.on(signal, heard);
  return end;
}

/** A closed reader (`box serve | head -1`) must not end the box. */
function surviveClosedPipes(): void {
  process.stdout.removeAllListeners("error").on("error", () => {});
  process.stderr.on("error", () => {});
}
