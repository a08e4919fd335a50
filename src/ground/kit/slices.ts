import { ServiceError } from "./errors.ts";

/** Long work in small steps: each yields what it cost, in a unit of the work's own; the end is its result. */
export type Work<T> = Generator<number, T, void>;

/** Runs work to its end, at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

export interface Slices {
  /**
   * Runs work to its end, a slice in each turn of the event loop, so that whoever else asks is answered in
   * between. Throws what the work throws; ServiceError overloaded while too much of it waits.
   */
  run<T>(work: Work<T>): Promise<T>;
}

export interface SliceLimits {
  /** What the steps of one slice may cost in all. */
  slice: number;
  /** Works that may be under way. */
  works: number;
}

/** All works take turns: however many there are, a turn of the loop holds one slice of one. */
export function createSlices(limits: SliceLimits): Slices {
  // Each runs one slice and says whether its work is over.
  const waiting: (() => boolean)[] = [];

  const turn = () => {
    const slice = waiting.shift();
    if (slice !== undefined && !slice()) waiting.push(slice);
    if (waiting.length > 0) setImmediate(turn);
  };

  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= limits.works)
          throw new ServiceError(
            "overloaded",
            "Too many such questions at once: try again shortly.",
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

/** One slice; null where the work isn't over. */
function sliceOf<T>(work: Work<T>, most: number): { value: T } | null {
  for (let cost = 0; cost < most; ) {
    const step = work.next();
    if (step.done) return { value: step.value };
    cost += step.value;
  }
  return null;
}
