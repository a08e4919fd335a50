import { Worker } from "node:worker_threads";
import type { Clock } from "./clock.ts";

/**
 * Where a thread's code is: a file's URL, or the code itself (one CommonJS bundle of the file), for a program that has
 * no files beside it.
 */
export type ThreadSource = URL | { code: string };

export interface ThreadOptions {
  source: ThreadSource;
  clock: Clock;
  /** Milliseconds one piece of work may take. */
  deadlineMs: number;
  /** MiB of heap one piece of work may take. */
  heapMb: number;
  /** Pieces that may wait behind the one under way. */
  longestQueue: number;
}

/** What the thread said, or why it said nothing: `busy` and `closed` are ours, else its end in words. */
export type Heard = { said: unknown } | { ended: "late" | "heap" | "busy" | "closed" | string };

export interface WorkThread {
  /** Hands over one piece of work, in its turn; what is in `moved` is the thread's from then on. Never rejects. */
  ask(work: unknown, moved?: readonly ArrayBuffer[]): Promise<Heard>;
  /** Ends the thread; what waits hears `closed`. */
  close(): Promise<void>;
}

/** Loading the code on a slow card is no fault of the work, so it has a limit of its own. */
const START_LIMIT_MS = 15_000;

/** An idle thread gives its memory back after this long. */
const IDLE_MS = 60_000;

/**
 * One thread for work that may take too long, ended when it does: whatever it holds up, it must not be a page. Its
 * program says one word once it is loaded, and then answers each piece of work.
 */
export function createWorkThread(options: ThreadOptions): WorkThread {
  const { clock, deadlineMs, longestQueue } = options;
  let thread: Worker | undefined;
  let last: Promise<void> = Promise.resolve();
  let inLine = 0;
  let closed = false;
  let cancelIdle = () => {};

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
    const heard = await nextMessage(worker, clock, START_LIMIT_MS);
    if ("said" in heard) return worker;
    await endThread();
    return { ended: closed ? "closed" : `it did not start: ${heard.ended}` };
  }

  async function run(work: unknown, moved: readonly ArrayBuffer[]): Promise<Heard> {
    if (closed) return { ended: "closed" };
    const worker = await ready();
    if ("ended" in worker) return worker;
    worker.postMessage(work, moved);
    const heard = await nextMessage(worker, clock, deadlineMs);
    if ("said" in heard) return heard;
    await endThread();
    return closed ? { ended: "closed" } : heard;
  }

  function leave(): void {
    inLine -= 1;
    if (inLine === 0 && !closed) cancelIdle = clock.after(IDLE_MS, endThread);
  }

  return {
    async ask(work, moved = []) {
      if (closed) return { ended: "closed" };
      if (inLine > longestQueue) return { ended: "busy" };
      inLine += 1;
      cancelIdle();
      const mine = last.then(() => run(work, moved));
      last = mine.then(leave, leave);
      return mine;
    },
    async close() {
      closed = true;
      cancelIdle();
      await endThread();
      await last;
    },
  };
}

/** The thread, with nothing of ours in its surroundings, and never a reason to stay alive. */
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
  // An 'error' that nobody hears would end the process; `exit` follows it and is what counts.
  worker.on("error", () => {});
  worker.unref();
  return worker;
}

/** What the thread says next, or why it will say nothing. */
function nextMessage(worker: Worker, clock: Clock, withinMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const settle = (heard: Heard) => {
      cancel();
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      resolve(heard);
    };
    const onMessage = (said: unknown) => settle({ said });
    const onError = (error: Error & { code?: string }) =>
      settle({ ended: error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "heap" : error.message });
    const onExit = () => settle({ ended: "its thread ended" });
    const cancel = clock.after(withinMs, () => settle({ ended: "late" }));
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  });
}
