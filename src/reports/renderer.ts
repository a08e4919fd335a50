import { Worker } from "node:worker_threads";
import { asset, isPacked } from "../kit/assets.ts";
import type { Clock } from "../kit/clock.ts";
import { ServiceError } from "../kit/errors.ts";
import type { RenderResult } from "./render-worker.ts";

/**
 * Where the thread's code is: a file's URL, or the code itself (one CommonJS bundle of
 * render-worker.ts), for a program that has no files beside it.
 */
export type RenderSource = URL | { code: string };

export interface RendererOptions {
  source: RenderSource;
  clock: Clock;
  /** Milliseconds one text may take, default 2,000. */
  deadlineMs?: number;
  /** MiB of heap one text may take, default 64. */
  heapMb?: number;
  /** Texts that may wait behind the one under way, default 8. */
  longestQueue?: number;
}

export interface Renderer {
  /**
   * Markdown as clean HTML, at most 1 MiB long. Throws `ServiceError`: content_too_complex (400) over
   * the deadline, the heap or that length; overloaded (429) when too many wait or after `close`.
   */
  render(markdown: string): Promise<string>;
  /** Ends the thread; texts that wait are refused as overloaded. */
  close(): Promise<void>;
}

/** Loading the code on a slow card is no fault of the text, so it has a limit of its own. */
const START_LIMIT_MS = 15_000;

/** An idle thread gives its memory back after this long. */
const IDLE_MS = 60_000;

/** The code beside this file, where the program runs from its sources. */
export function workerFile(): URL {
  return new URL("./render-worker.ts", import.meta.url);
}

/** The code wherever the program runs from: beside this file, or carried inside the executable. */
export function workerSource(): RenderSource {
  return isPacked ? { code: asset("src/reports/render-worker.ts") } : workerFile();
}

/**
 * Renders Markdown in one thread that is ended when a text takes too long: some short texts take
 * minutes, and whatever they hold up, it must not be a page (contract §8).
 */
export function createRenderer(options: RendererOptions): Renderer {
  const { clock, deadlineMs = 2_000, longestQueue = 8 } = options;
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

  async function ready(): Promise<Worker> {
    if (thread !== undefined) return thread;
    const worker = startThread(options);
    thread = worker;
    worker.on("exit", () => {
      if (thread === worker) thread = undefined;
    });
    const heard = await nextMessage(worker, clock, START_LIMIT_MS);
    if ("said" in heard) return worker;
    await endThread();
    throw closed ? overloaded() : new Error(`the renderer did not start: ${heard.ended}`);
  }

  async function run(markdown: string): Promise<string> {
    if (closed) throw overloaded();
    const worker = await ready();
    worker.postMessage(markdown);
    const heard = await nextMessage(worker, clock, deadlineMs);
    if ("said" in heard) return htmlOf(heard.said as RenderResult);
    await endThread();
    if (closed) throw overloaded();
    if (heard.ended === "late" || heard.ended === "heap") throw tooComplex();
    throw new Error(`the renderer failed: ${heard.ended}`);
  }

  function leave(): void {
    inLine -= 1;
    if (inLine === 0 && !closed) cancelIdle = clock.after(IDLE_MS, endThread);
  }

  return {
    async render(markdown) {
      if (closed || inLine > longestQueue) throw overloaded();
      inLine += 1;
      cancelIdle();
      const mine = last.then(() => run(markdown));
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
function startThread({ source, heapMb = 64 }: RendererOptions): Worker {
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

type Heard = { said: unknown } | { ended: "late" | "heap" | string };

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

function htmlOf(result: RenderResult): string {
  if ("html" in result) return result.html;
  if ("refused" in result) throw tooComplex();
  throw new Error(`the renderer failed: ${result.failed}`);
}

function tooComplex(): ServiceError {
  return new ServiceError("content_too_complex", "This Markdown takes too long to render.", {
    details: [{ field: "/content_md", reason: "too_complex" }],
  });
}

function overloaded(): ServiceError {
  return new ServiceError("overloaded", "Too many texts wait to be rendered.", { retryAfter: 2 });
}
