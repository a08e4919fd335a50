/** Which of a database's copies it is: all have one `system`, and `timeline` grows with each copy that is promoted. */
export interface Generation {
  system: string;
  timeline: number;
}

/** The latest generation that this node has found. */
export interface SeenGeneration {
  latest(): Generation | null;
  saw(generation: Generation): void;
  /** What an operator does who means an older one, as the end of a sentence. */
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

/** Whether a copy was left behind by one that was promoted since. */
export const isLeftBehind = (found: Generation | null, latest: Generation | null): boolean =>
  found !== null && found.system === latest?.system && found.timeline < latest.timeline;
