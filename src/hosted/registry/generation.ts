/** Which copy of a database it is: all copies share one `system`, and `timeline` grows with each promotion. */
export interface Generation {
  system: string;
  timeline: number;
}

/** The latest generation that this node has seen. */
export interface SeenGeneration {
  latest(): Generation | null;
  saw(generation: Generation): void;
  /** What an operator does to accept an older one, as the end of a sentence. */
  readonly forget: string;
}

export function seenInMemory(latest: Generation | null = null): SeenGeneration {
  let seen = latest;
  return {
    latest: () => seen,
    saw(generation) {
      seen = generation;
    },
    forget: "start anew where it is meant",
  };
}

/** Whether another copy was promoted after this one. */
export const isLeftBehind = (found: Generation | null, latest: Generation | null): boolean =>
  found !== null && found.system === latest?.system && found.timeline < latest.timeline;
