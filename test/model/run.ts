import { testBox } from "../support/box.ts";
import fc from "../support/property.ts";
import { begin, commands, Pair } from "./commands.ts";

/**
 * Runs `sequences` of at most `most` commands against two boxes and their models: the tenants know nothing
 * of each other. Throws with fast-check's shrunk counterexample and its seed.
 */
export async function runModel(
  sequences: number,
  most: number,
): Promise<{ sequences: number; commands: number; alerts: number }> {
  const boxes = await Promise.all([testBox(), testBox()]);
  const figures = { sequences: 0, commands: 0, alerts: 0 };
  try {
    await fc.assert(
      fc.asyncProperty(commands(most), async (steps) => {
        const prefix = `run${String(++figures.sequences).padStart(6, "0")}`;
        const pairs = await Promise.all(
          boxes.map(async (box) => {
            const newest = (await box.api("GET", `/v1/pull?cursor=${Number.MAX_SAFE_INTEGER}`))
              .body;
            const pair = new Pair(box, prefix, newest.cursor);
            await begin(pair);
            return pair;
          }),
        );
        await fc.asyncModelRun(() => ({ model: {}, real: pairs }), steps);
        figures.commands += [...steps].length;
        for (const pair of pairs) figures.alerts += pair.model.alerts.length;
        for (const pair of pairs)
          for (const name of pair.model.projects.keys())
            await pair.box.api("DELETE", `/v1/projects/${name}`);
      }),
      { numRuns: sequences },
    );
    return figures;
  } finally {
    await Promise.all(boxes.map((box) => box.stop()));
  }
}
