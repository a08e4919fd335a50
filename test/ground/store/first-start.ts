/** `first-start.ts PATH INTO`: opens a store at PATH, keeps its folder as it is before each step in INTO, and prints how many there are. */
import { dirname } from "node:path";
import { keepEach, stepsTaken } from "./steps.ts";

const [, , path = "", into = ""] = process.argv;
const { openStore } = await import("../../../src/ground/store/store.ts");
const { systemClock } = await import("../../../src/ground/kit/clock.ts");
const { systemRandom } = await import("../../../src/ground/kit/random.ts");
keepEach(dirname(path), into);
openStore({ path, kind: "box", clock: systemClock, random: systemRandom }).close();
process.stdout.write(String(stepsTaken()));
