import { seeded } from "../../src/app/prove/seeded.ts";
import { createDisk, type Mode, modes } from "./disk.ts";
import { type Op, ops } from "./recording.ts";

/** A disk as a power cut left it. */
export interface CrashState {
  directory: string;
  mode: Mode;
  /** The part of the story in which the power went. */
  part: string;
  /** Everything that had been answered "yes". */
  acked: readonly string[];
}

/**
 * Cuts the power at `states` moments of a recording, in ways chosen by the seed, and hands each state
 * to `look`; a few more, at the moments when a name changes. A moment is just after a recorded operation.
 */
export function replay(
  recorded: { root: string; log: readonly Op[]; into: string },
  how: { states: number; seed: number },
  look: (state: CrashState) => void,
): void {
  const { root, log, into } = recorded;
  const choice = seeded(how.seed, "power cut");
  const cuts = cutsOf(log, how.states, how.seed);
  const disk = createDisk(root);
  const acked: string[] = [];
  let part = "";
  log.forEach((op, at) => {
    if (op.op === ops.ack) acked.push(op.data.toString());
    else if (op.op === ops.part) part = op.data.toString();
    else disk.apply(op);
    for (let n = cuts.get(at) ?? 0; n > 0; n--) {
      const mode = choice.pick(modes);
      disk.cut(mode, choice, into);
      look({ directory: into, mode, part, acked });
    }
  });
}

const MOST_A_NAME = 4;

/** How many cuts come after each operation: as many in each part, and up to four after each change of a name. */
function cutsOf(log: readonly Op[], states: number, seed: number): Map<number, number> {
  const choice = seeded(seed, "cuts");
  const starts = log.flatMap(({ op }, at) => (op === ops.part ? [at] : []));
  const parts = (starts.length === 0 ? [0] : starts).map((from, i, all) => ({
    from,
    to: (all[i + 1] ?? log.length) - 1,
  }));
  const cuts = new Map<number, number>();
  // Names change rarely, and much hangs on them.
  const aName = Math.min(MOST_A_NAME, Math.ceil(states / parts.length));
  log.forEach(({ op }, at) => {
    if (op === ops.rename || op === ops.link) cuts.set(at, aName);
  });
  for (let i = 0; i < states; i++) {
    const { from, to } = parts[i % parts.length] ?? { from: 0, to: 0 };
    const at = choice.between(from, to);
    cuts.set(at, (cuts.get(at) ?? 0) + 1);
  }
  return cuts;
}
