import type { Program } from "../../src/app/prove/scratch-box.ts";
import { wrongWith } from "./look.ts";
import { startRecording } from "./recording.ts";
import { replay } from "./replay.ts";
import { type Length, tellStory } from "./story.ts";

/** What the states of a box's story came to. */
export interface Figures {
  operations: number;
  states: Record<string, number>;
  /** The first states in which something was wrong. */
  wrong: { part: string; mode: string; what: string }[];
}

/** Records a box's story and looks at what power cuts leave of it. */
export async function cutPower(
  program: Program,
  length: Length,
  how: { states: number; seed: number },
): Promise<Figures> {
  const recording = startRecording();
  try {
    await tellStory(program, recording, length);
    const log = recording.read();
    const figures: Figures = { operations: log.length, states: {}, wrong: [] };
    replay({ root: recording.directory, log, into: recording.into }, how, (state) => {
      figures.states[state.part] = (figures.states[state.part] ?? 0) + 1;
      const [what] = wrongWith(state);
      if (what !== undefined) figures.wrong.push({ part: state.part, mode: state.mode, what });
    });
    return figures;
  } finally {
    recording.discard();
  }
}
