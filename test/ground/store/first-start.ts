/** `first-start.ts PATH N`: opens a store at PATH and dies before its N-th step; 0: prints how many there are. */
import { dieBefore, stepsTaken } from "./steps.ts";

const [, , path = "", count = ""] = process.argv;
const { openStore } = await import("../../../src/ground/store/store.ts");
const { systemClock } = await import("../../../src/ground/kit/clock.ts");
const { systemRandom } = await import("../../../src/ground/kit/random.ts");
dieBefore(Number(count));
openStore({ path, kind: "box", clock: systemClock, random: systemRandom }).close();
process.stdout.write(String(stepsTaken()));
