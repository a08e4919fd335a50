import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Api } from "./api.ts";
import type { RunEvidence } from "./evidence.ts";
import type { Seeded } from "./seeded.ts";
import { quietSetting } from "./world.ts";

/** The part of the ledger that it writes. */
export type Hushed = Pick<RunEvidence, "hushes" | "rings">;

const SHORTEST = 2;
const LONGEST = 4;

/**
 * One step of a person who silences: a host is silenced and fails, and then the silence ends, or the person ends it
 * earlier; or an alert is snoozed, or acknowledged and unacknowledged. Each host and alert is used once. Answered
 * requests are entered in the ledger.
 */
export function createHusher(deps: {
  api: Api;
  clock: Clock;
  token: string;
  hushed: Hushed;
}): (choice: Seeded) => Promise<void> {
  const { api, clock, token, hushed } = deps;
  const now = () => Math.floor(clock.now() / 1000);
  let hosts = 0;
  const fails = (host: string) => {
    const body = JSON.stringify({ message: "the quiet host is down", level: 500, keys: { host } });
    return api.send("/v1/ingest", { bearer: token, type: "application/json", body });
  };

  const silence = async (choice: Seeded) => {
    hosts += 1;
    const host = `hushed${hosts}`;
    const until = now() + choice.between(SHORTEST, LONGEST);
    const { id } = await api.need("POST", "/v1/silences", {
      project: quietSetting.name,
      match: { identifiers: { host } },
      critical: true,
      ends_at: until,
      reason: "a proof",
    });
    const hush = { host, until };
    hushed.hushes.push(hush);
    await fails(host);
    if (choice.chance(0.5)) return;
    await sleep(clock, choice.between(0, 1500));
    // From now on the silence may be over, with or without an answer.
    hush.until = Math.min(until, now());
    await api.need("DELETE", `/v1/silences/${String(id)}`);
  };

  const ring = async (choice: Seeded) => {
    hosts += 1;
    const host = `loud${hosts}`;
    await fails(host);
    const { alerts } = await api.need("GET", `/v1/alerts?project=${quietSetting.name}&limit=500`);
    const found = (alerts as { id: string; identifiers: Record<string, string> }[]).find(
      ({ identifiers }) => identifiers["host"] === host,
    );
    if (found === undefined) return;
    const at = `/v1/alerts/${found.id}`;
    let until = now();
    if (choice.chance(0.5)) {
      until += choice.between(1, LONGEST);
      await api.need("POST", `${at}/snooze`, { until });
    } else {
      await api.need("POST", `${at}/ack`);
      await api.need("POST", `${at}/unack`);
    }
    hushed.rings.push({ alertId: found.id, until });
  };

  return (choice) => (choice.chance(0.5) ? silence(choice) : ring(choice));
}

/** The Unix second by which everything that was silenced must have been sent. */
export function quietUntil({ hushes, rings }: Hushed): number {
  return Math.max(0, ...[...hushes, ...rings].map(({ until }) => until + LONGEST));
}
