import { Worker } from "node:worker_threads";
import type { Clock } from "./clock.ts";

/** A thread's code: a file's URL, or the code itself (one CommonJS bundle), for an executable without files. */
export type ThreadSource = URL | { code: string };

export interface ThreadOptions {
  source: ThreadSource;
  clock: Clock;
  /** Limit for one piece of work, in milliseconds: `patience` times as long where the thread got less than half of it as CPU time. */
  deadlineMs: number;
  /** Limit for one piece of work, in MiB of heap. */
  heapMb: number;
  /** Pieces of work that may wait. */
  longestQueue: number;
  /** How often the limit is waited for where other programs keep the cores busy. Default 5. */
  patience?: number;
  /** A piece of work that has waited longer than this for its turn is `busy`, in milliseconds. Default: none is. */
  longestWaitMs?: number;
}

/** The thread's answer, or why there is none: `late`, `heap`, `busy` (others wait, or it doesn't start in time), `closed`, or how the thread ended. */
export type Heard = { said: unknown } | { ended: "late" | "heap" | "busy" | "closed" | string };

/** Loading the code takes long on a slow SD card, so it has a limit of its own. */
const START_LIMIT_MS = 15_000;

const busy: Heard = { ended: "busy" };

/** An idle thread ends after this long and frees its memory. */
const IDLE_MS = 60_000;

/**
 * A thread for work that may take too long; it is ended when it does, so it never delays a page. Its program sends one
 * message once it is loaded, and then an answer for each piece of work.
 */
export function createWorkThread(options: ThreadOptions) {
  const { clock, deadlineMs, longestQueue } = options;
  const { patience = 5, longestWaitMs = Number.POSITIVE_INFINITY } = options;
  let thread: Worker | undefined;
  let last: Promise<void> = Promise.resolve();
  let inLine = 0;
  let closed = false;
  let cancelIdle = () => {};

  /** Ends the work that is under way, and the thread with it; what waits gets another thread. Resolves when its memory is free. */
  async function endThread(): Promise<void> {
    const worker = thread;
    thread = undefined;
    await worker?.terminate();
  }

  async function ready(): Promise<Worker | { ended: string }> {
    if (thread !== undefined) return thread;
    const worker = startThread(options);
    thread = worker;
    worker.on("exit", () => {
      if (thread === worker) thread = undefined;
    });
    const heard = await nextMessage(worker, clock, [START_LIMIT_MS]);
    if ("said" in heard) return worker;
    await endThread();
    if (closed || heard.ended === "late") return { ended: closed ? "closed" : "busy" };
    return { ended: `it did not start: ${heard.ended}` };
  }

  async function run(work: unknown, moved: readonly ArrayBuffer[]): Promise<Heard> {
    if (closed) return { ended: "closed" };
    const worker = await ready();
    if ("ended" in worker) return worker;
    const before = cpuMs(worker);
    worker.postMessage(work, moved);
    const isOver = async () => (await cpuMs(worker)) - (await before) >= deadlineMs / 2;
    const heard = await nextMessage(worker, clock, Array(patience).fill(deadlineMs), isOver);
    if ("said" in heard) return heard;
    await endThread();
    return closed ? { ended: "closed" } : heard;
  }

  function leave(): void {
    inLine -= 1;
    if (inLine === 0 && !closed) cancelIdle = clock.after(IDLE_MS, endThread);
  }

  return {
    /** Gives the thread one piece of work. The buffers in `moved` then belong to the thread. Never rejects. */
    async ask(work: unknown, moved: readonly ArrayBuffer[] = []): Promise<Heard> {
      if (closed) return { ended: "closed" };
      if (inLine > longestQueue) return { ended: "busy" };
      inLine += 1;
      cancelIdle();
      const until = clock.mono() + longestWaitMs;
      const mine = last.then(() => (clock.mono() > until ? busy : run(work, moved)));
      last = mine.then(leave, leave);
      return mine;
    },
    restart: endThread,
    /** Ends the thread. Waiting work gets `closed`. */
    async close() {
      closed = true;
      cancelIdle();
      await endThread();
      await last;
    },
  };
}

/** The thread gets nothing of our environment, and doesn't keep the process alive. */
function startThread({ source, heapMb }: ThreadOptions): Worker {
  const surroundings = {
    env: {},
    execArgv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      maxYoungGenerationSizeMb: 16,
      stackSizeMb: 4,
    },
  };
  const worker =
    source instanceof URL
      ? new Worker(source, surroundings)
      : new Worker(source.code, { ...surroundings, eval: true });
  // An 'error' without a listener would end the process. `exit` follows it and is handled.
  worker.on("error", () => {});
  worker.unref();
  return worker;
}

/** CPU time that a thread has used; 0 for one that has ended. */
async function cpuMs(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1000;
}

/**
 * The thread's next message, or why there will be none. After each of `waits` (milliseconds) it is late if `isOver` says so,
 * and after the last in any case.
 */
function nextMessage(
  worker: Worker,
  clock: Clock,
  [wait = 0, ...more]: readonly number[],
  isOver: () => Promise<boolean> = async () => true,
): Promise<Heard> {
  return new Promise((resolve) => {
    const settle = (heard: Heard) => {
      cancel();
      isSettled = true;
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      resolve(heard);
    };
    const onMessage = (said: unknown) => settle({ said });
    const onError = (error: Error & { code?: string }) =>
      settle({ ended: error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "heap" : error.message });
    const onExit = () => settle({ ended: "its thread ended" });
    const onTime = async () => {
      const next = more.shift();
      if (next === undefined || (await isOver())) settle({ ended: "late" });
      else if (!isSettled) cancel = clock.after(next, onTime);
    };
    let isSettled = false;
    let cancel = clock.after(wait, onTime);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  });
}
