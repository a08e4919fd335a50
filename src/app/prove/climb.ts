import { sleep } from "../../ground/kit/clock.ts";
import type { RunEvidence } from "./evidence.ts";
import type { Seeded } from "./seeded.ts";
import { findAlert, insist, type Quietly } from "./silences.ts";
import { climbSetting } from "./world.ts";

const LEVEL = 400;
/** After the run, in minutes. */
const LATE = 10_080;
const RULES = 2;
/** A box has no room for more ladders than so. */
const PAUSE_MS = 2000;

/**
 * One step of a ladder that changes under open alerts of two rules: its step that was to come late is due at once; or its
 * first step has run, and the change adds one that comes late. The change is sent until it is answered, over kills, and
 * entered in the ledger then.
 */
export function createClimber(
  deps: Quietly<Pick<RunEvidence, "climbs">> & { owner: string },
): (choice: Seeded) => Promise<void> {
  const { api, clock, token, ledger, owner } = deps;
  const stepAfter = (after_minutes: number) => ({ accounts: [owner], after_minutes });
  let turns = 0;
  return async (choice) => {
    turns += 1;
    const name = `climb${turns}`;
    const isLate = choice.chance(0.5);
    await api.need("POST", "/v1/ladders", { name, steps: [stepAfter(isLate ? LATE : 0)] });
    const rules = Array.from({ length: RULES }, (_, i) => `${name} ${i}`);
    for (const rule of rules) {
      const body = { name: rule, match: { tags: [name] }, identifier_keys: ["host"], ladder: name };
      await api.need("POST", `/v1/projects/${climbSetting.name}/rules`, body);
    }
    const event = { message: "it fails", level: LEVEL, keys: { host: name }, tags: [name] };
    const body = JSON.stringify(event);
    const of = { bearer: token, type: "application/json", body };
    if ((await api.send("/v1/ingest", of)).status !== 202) throw new Error("it isn't stored");
    const ids = await Promise.all(
      rules.map((rule) => findAlert(api, (alert) => alert.rule === rule, climbSetting)),
    );
    await sleep(clock, choice.between(0, 500));
    const steps = isLate ? [stepAfter(0)] : [stepAfter(0), stepAfter(LATE)];
    await insist(clock, 200, () => api.call("PUT", `/v1/ladders/${name}`, { name, steps }));
    const until = Math.floor(clock.now() / 1000);
    ledger.climbs.push(...ids.map((alertId) => ({ alertId, until })));
    await sleep(clock, choice.between(0, PAUSE_MS));
  };
}
