import { changeLadder } from "../../src/core/alerts/ladders.ts";
import { createSweep } from "../../src/core/alerts/sweep.ts";
import type { LadderBody } from "../../src/core/projects/ladder.ts";
import { unixSeconds } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../src/ground/store/store.ts";
import { machine } from "../simulation/engine.ts";
import { step } from "../support/plane.ts";

/** What the ladder that alerts stand on becomes: twenty minutes on its second step is due, the third isn't. */
export const LADDER: LadderBody = {
  steps: [step(0, ["ann"]), step(10, ["bob"]), step(60, ["cat"])],
  passes: 1,
  pass_after_minutes: null,
  team: "",
};

export function openLater(path: string): Store {
  const clock = machine();
  clock.pass(20 * 60);
  return openStore({ path, kind: "box", clock, random: systemRandom });
}

/** Changes the ladder where it isn't changed yet, and lets its alerts follow, in slices of twenty. */
export function changeAndFollow(store: Store): void {
  const stands = store.sql("SELECT 1 FROM ladders WHERE updated_at = created_at").get();
  if (stands !== undefined)
    store.write((tx) => changeLadder(tx, { name: "night", to: { name: "night", ...LADDER } }));
  const sweep = createSweep(store, silentLog, { slice: 20, budgetMs: 1000 });
  const now = unixSeconds(store.clock);
  for (let next = sweep.run(0); next !== null && next <= now; ) next = sweep.run(0);
}
