import { createPatternTime } from "../../src/core/projects/pattern.ts";

/** Patterns may take as long as they want. */
export const anyTime = createPatternTime({ mono: () => 0, now: () => 0 });
