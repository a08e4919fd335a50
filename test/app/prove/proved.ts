import { type Progress, prove } from "../../../src/app/prove/prove.ts";
import type { Program } from "../../../src/app/prove/scratch-box.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";

/** One run; `told` is all that it came to, for whoever reads of a failure. Throws with how far it came. */
export async function proved(of: {
  program: Program;
  seed: number;
  kills: number;
  database?: Record<string, string>;
}) {
  let at: Progress | null = null;
  const onProgress = (progress: Progress) => {
    at = progress;
  };
  try {
    const { verdict, directory } = await prove({ clock: systemClock, onProgress, ...of });
    return { verdict, directory, told: JSON.stringify(verdict, null, 1) };
  } catch (error) {
    throw new Error(`no proof, at ${JSON.stringify(at)}: ${String(error)}`, { cause: error });
  }
}
