import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Api, ApiReply } from "./api.ts";
import type { RunEvidence, SilenceRecord } from "./evidence.ts";
import type { Seeded } from "./seeded.ts";
import { quietSetting } from "./world.ts";

/** The part of the ledger that it writes. */
type SilenceEvidence = Pick<RunEvidence, "hushes" | "rings">;

export interface Quietly<Ledger> {
  api: Api;
  clock: Clock;
  /** The ingest token of the project for silences. */
  token: string;
  ledger: Ledger;
}

const SHORTEST = 2;
const LONGEST = 4;
/** A killed box is back sooner. */
const TRIES = 150;
const RETRY_MS = 200;

/** An alert of the project, as far as it is looked for. */
interface Found {
  id: string;
  rule: string;
  identifiers: Record<string, string>;
}

export async function findAlert(
  api: Api,
  which: (alert: Found) => boolean,
  { name } = quietSetting,
): Promise<string> {
  const { alerts } = await api.need("GET", `/v1/alerts?project=${name}&limit=500`);
  const found = (alerts as Found[]).find(which);
  if (found === undefined) throw new Error("it isn't there, or no longer among the newest");
  return found.id;
}

/** Sends it until it is answered so, over kills. */
export async function insist(
  clock: Clock,
  status: number,
  send: () => Promise<ApiReply>,
): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    const answer = await send().catch(() => null);
    if (answer?.status === status) return;
    await sleep(clock, RETRY_MS);
  }
  throw new Error(`the box never answered ${status}`);
}

export async function giveBack({ api }: Pick<Quietly<unknown>, "api">, id: string): Promise<void> {
  await api.need("POST", `/v1/alerts/${id}/ack`);
  await api.need("POST", `/v1/alerts/${id}/unack`);
}

/**
 * One step of a person who silences: a host is silenced and fails, and then the silence ends, or the person ends it
 * earlier; or it is silenced by its labels, which an event changes meanwhile; or it fails, is silenced, and is acknowledged
 * and unacknowledged during the silence; or an alert is snoozed, or acknowledged and unacknowledged. Each host and alert is used once. Answered requests are entered in the ledger.
 */
export function createSilencer(deps: Quietly<SilenceEvidence>): (choice: Seeded) => Promise<void> {
  const { api, clock, token, ledger } = deps;
  const now = () => Math.floor(clock.now() / 1000);
  let hosts = 0;
  const fails = async (host: string, keys: Record<string, string> = {}) => {
    const event = { message: "the quiet host is down", level: 500, keys: { host, ...keys } };
    const body = JSON.stringify(event);
    return await api.send("/v1/ingest", { bearer: token, type: "application/json", body });
  };
  const alertOf = (host: string) =>
    findAlert(api, ({ identifiers }) => identifiers["host"] === host);

  const hush = (host: string, until: number) =>
    api.need("POST", "/v1/silences", {
      project: quietSetting.name,
      match: { identifiers: { host } },
      critical: true,
      ends_at: until,
      reason: "a proof",
    });

  /** The silence goes on, and takes the alert no more: an event says something else of it. */
  const relabel = async (choice: Seeded, host: string) => {
    await api.need("POST", "/v1/silences", {
      project: quietSetting.name,
      labels: [
        { key: "host", op: "eq", value: host },
        { key: "zone", op: "matches", value: "eu-.*" },
      ],
      critical: true,
      ends_at: now() + 3600,
      reason: "a proof",
    });
    // The silence goes on for longer than the proof: the event that ends it here comes until it is answered, over kills.
    for (const zone of ["eu-1", "eu-2"]) await fails(host, { zone }).catch(() => null);
    await sleep(clock, choice.between(0, 1500));
    // A try without an answer may have been committed.
    const until = now();
    await insist(clock, 202, () => fails(host, { zone: "us-1" }));
    ledger.hushes.push({ host, until, owes: "alert.opened" });
  };

  const silence = async (choice: Seeded, host: string) => {
    const until = now() + choice.between(SHORTEST, LONGEST);
    const { id } = await hush(host, until);
    const entry: SilenceRecord = { host, until, owes: "alert.opened" };
    ledger.hushes.push(entry);
    await fails(host);
    if (choice.chance(0.5)) return;
    await sleep(clock, choice.between(0, 1500));
    // From now on the silence may be over, with or without an answer.
    entry.until = Math.min(until, now());
    await api.need("DELETE", `/v1/silences/${String(id)}`);
  };

  const silenceOpen = async (choice: Seeded, host: string) => {
    await fails(host);
    const id = await alertOf(host);
    const until = now() + choice.between(SHORTEST, LONGEST);
    await hush(host, until);
    await giveBack(deps, id);
    ledger.hushes.push({ host, until, owes: "alert.renotified" });
  };

  const ring = async (choice: Seeded, host: string) => {
    await fails(host);
    const alertId = await alertOf(host);
    let until = now();
    if (choice.chance(0.5)) {
      until += choice.between(1, LONGEST);
      await api.need("POST", `/v1/alerts/${alertId}/snooze`, { until });
    } else await giveBack(deps, alertId);
    ledger.rings.push({ alertId, until });
  };

  return (choice) => {
    hosts += 1;
    return choice.pick([silence, silenceOpen, relabel, ring, ring])(choice, `quiet${hosts}`);
  };
}

/** The Unix second by which everything that was silenced, or followed a ladder, must have been sent. */
export function quietUntil({
  hushes,
  rings,
  climbs,
}: SilenceEvidence & Pick<RunEvidence, "climbs">): number {
  return Math.max(0, ...[...hushes, ...rings, ...climbs].map(({ until }) => until + LONGEST));
}
