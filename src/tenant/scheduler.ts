import { type Clock, unixSeconds } from "../ground/kit/clock.ts";
import type { Log } from "../ground/kit/log.ts";
import { turns } from "../ground/kit/turns.ts";
import type { Note } from "../ground/store/store.ts";

/** A named job that the loop runs when it is due. It sets no timers. */
export interface Job {
  name: string;
  /** Does what is due at `now` (Unix seconds). Returns its next time in Unix ms; null: when a topic triggers it. */
  run(now: number): number | null | Promise<number | null>;
  /** A commit with a note of one of these topics triggers the job. */
  wokenBy?: readonly Note["topic"][];
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** The loop sleeps at most this long, so an unknown due time is at most this late. */
const LONGEST_SLEEP_MS = 1000;
const AFTER_FAILURE_MS = 5000;

/** The one loop of a tenant. A job that throws or hangs is tried again, and never delays the others. */
export function createScheduler(clock: Clock, log: Log, jobs: readonly Job[]) {
  const next = new Map(jobs.map((job) => [job.name, 0]));
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failures = new Map<string, number>();
  let cancel: (() => void) | null = null;
  let stopped = true;
  let lastTick = clock.mono();

  const runJob = async (job: Job): Promise<void> => {
    next.set(job.name, Number.MAX_SAFE_INTEGER);
    try {
      const at = await turns.during(`job ${job.name}`, () => job.run(unixSeconds(clock)));
      // Due times are in system time, the sleep isn't: when the clock jumps, the clock's job moves them.
      next.set(
        job.name,
        at === null ? Number.MAX_SAFE_INTEGER : clock.mono() + Math.max(0, at - clock.now()),
      );
      failures.delete(job.name);
    } catch (error) {
      failures.set(job.name, (failures.get(job.name) ?? 0) + 1);
      next.set(job.name, clock.mono() + AFTER_FAILURE_MS);
      log.error({ job: job.name, err: error }, "job failed");
    }
  };

  const tick = () => {
    cancel = null;
    if (stopped) return;
    lastTick = clock.mono();
    for (const job of jobs) {
      if (running.has(job.name) || (next.get(job.name) ?? 0) > lastTick) continue;
      const run = runJob(job).finally(() => {
        running.delete(job.name);
        if (again.delete(job.name)) next.set(job.name, 0);
        arm();
      });
      running.set(job.name, run);
    }
    arm();
  };

  const arm = () => {
    if (stopped) return;
    cancel?.();
    let due = clock.mono() + LONGEST_SLEEP_MS;
    for (const { name } of jobs) if (!running.has(name)) due = Math.min(due, next.get(name) ?? 0);
    const wait = due - clock.mono();
    cancel = clock.after(Math.max(0, wait), tick);
  };

  /** Runs the named job in the next round of the loop. */
  const wake = (name: string) => {
    if (running.has(name)) again.add(name);
    else next.set(name, 0);
    arm();
  };

  return {
    start() {
      stopped = false;
      arm();
    },
    wake,
    /** Triggers, once each, the jobs for the topics of a commit. */
    told(notes: readonly Note[]) {
      const topics = new Set(notes.map((note) => note.topic));
      for (const job of jobs) if (job.wokenBy?.some((topic) => topics.has(topic))) wake(job.name);
    },
    /** Starts no more jobs, and waits for those that run. */
    async stop() {
      stopped = true;
      cancel?.();
      await Promise.all(running.values());
    },
    /** When the loop last ran, by the monotonic clock. systemd's watchdog depends on it. */
    get lastTick() {
      return lastTick;
    },
    failures,
    get running() {
      return running.size;
    },
  };
}
