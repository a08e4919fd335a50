import type { Clock } from "../src/ground/kit/clock.ts";
import type { Log } from "../src/ground/kit/log.ts";
import { createNotifier } from "../src/ground/kit/notify.ts";
import { StoreFault } from "../src/ground/store/faults.ts";
import { exitCodeOf, exitCodes } from "./exit.ts";

/** A role that serves, as the process around it needs it. */
export interface Running {
  url: string;
  reload(): void;
  stop(): Promise<void>;
  /** Before `stop`: it says that it isn't ready any more, and goes on serving for a while. */
  drain?(): Promise<void>;
  /** Due work is looked at and the store answers: the watchdog is fed only while this holds. */
  isWell(): boolean;
}

/** After a failed write or sync the files must be read anew: 74, or 65 where SQLite found damage (contract §11). */
export function endOnFatal(log: Log): (error: unknown) => never {
  return (error) => {
    if (error instanceof StoreFault) {
      log.fatal({ err: error }, "ending");
      process.exit(exitCodeOf(error));
    }
    log.fatal(
      { err: error },
      "storage fault, or memory that may not be as the files are: ending, so that they are read anew",
    );
    const damaged = String((error as { code?: string }).code).startsWith("SQLITE_CORRUPT");
    process.exit(damaged ? exitCodes.damaged : exitCodes.storage);
  };
}

/** Says that the role is ready, keeps its supervisor told, and ends it in order on SIGTERM or SIGINT. */
export async function keepRunning(
  running: Running,
  deps: { log: Log; clock: Clock },
): Promise<void> {
  const { log, clock } = deps;
  surviveClosedPipes();
  process.stdout.write(`listening on ${running.url}\n`);
  const notifier = await createNotifier(process.env);
  notifier.ready();
  const unwatch = notifier.watch(clock, running.isWell);
  const stop = (signal: string) => {
    log.info({ signal }, "stopping");
    notifier.stopping();
    void (async () => {
      await running.drain?.();
      unwatch();
      await running.stop();
      process.exit(0);
    })();
  };
  process.once("SIGTERM", () => stop("SIGTERM"));
  process.once("SIGINT", () => stop("SIGINT"));
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
}

/** A reader that goes away (`box serve | head -1`) must not take the pager with it. */
function surviveClosedPipes(): void {
  process.stdout.removeAllListeners("error").on("error", () => {});
  process.stderr.on("error", () => {});
}
