import { ServiceError } from "./errors.ts";
import { turns } from "./turns.ts";

/** Ends at the next turn of the event loop: what else waits has its turn before. */
export function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Long work in small steps. Each step yields its cost, in a unit of the work's own; the return value is the result. */
export type Work<T> = Generator<number, T, void>;

/** Runs the whole work at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

export interface Slices {
  /**
   * Runs one slice of the work in each turn of the event loop, so that other requests are answered in between. Throws
   * what the work throws; ServiceError overloaded while too much work waits.
   */
  run<T>(work: Work<T>): Promise<T>;
}

interface SliceLimits {
  /** The highest cost of one slice. */
  slice: number;
  /** Works that may be under way. */
  works: number;
}

/** All works take turns: one turn of the event loop runs one slice of one work. */
export function createSlices(limits: SliceLimits): Slices {
  // Each runs one slice and returns whether its work is done.
  const waiting: (() => boolean)[] = [];

  const turn = () => {
    const slice = waiting.shift();
    if (slice !== undefined && !turns.during("slice", slice)) waiting.push(slice);
    if (waiting.length > 0) setImmediate(turn);
  };

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= limits.works)
          throw new ServiceError(
            "overloaded",
            "Too many such requests at once: try again shortly.",
            {
              retryAfter: 1,
            },
          );
        waiting.push(() => {
          try {
            const result = sliceOf(work, limits.slice);
            if (result !== null) resolve(result.value);
            return result !== null;
          } catch (error) {
            reject(error);
            return true;
          }
        });
        if (waiting.length === 1) setImmediate(turn);
      }),
  };
}

/** Runs one slice; null where the work isn't done. */
function sliceOf<T>(work: Work<T>, most: number): { value: T } | null {
  for (let cost = 0; cost < most; ) {
    const step = work.next();
    if (step.done) return { value: step.value };
    cost += step.value;
  }
  return null;
}
