import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Api } from "./api.ts";
import type { RunEvidence, SeenDevice } from "./evidence.ts";
import type { Receivers } from "./receiver.ts";
import type { Seeded } from "./seeded.ts";

/** The person whose browsers get pushes. */
export interface Pushed {
  accountId: string;
  key: string;
}

/** Adds a second person for the ladders, with one browser that stays. Throws the API's errors. */
export async function pushPerson(
  api: Api,
  deps: { receivers: Receivers; devices: SeenDevice[] },
): Promise<Pushed> {
  const email = "pushed@example.org";
  const { code } = await api.need("POST", "/v1/pair/codes", { email, role: "member" });
  const seat = { code, password: `${String(code)}-pushed` };
  const paired = await api.need("POST", "/v1/pair", seat);
  const person = { accountId: String(paired["box_account_id"]), key: String(paired["api_key"]) };
  const stays = newDevice(deps);
  await subscribe(api, { ...deps, person, device: stays });
  if (stays.contactId === null) throw new Error("the browser couldn't be subscribed");
  return person;
}

interface Device extends SeenDevice {
  /** Its number in the ledger, and in its address. */
  n: number;
}

function newDevice({ devices }: { devices: SeenDevice[] }): Device {
  const device = { n: devices.length, contactId: null, isLeaving: false, revokedAt: null };
  devices.push(device);
  return device;
}

async function subscribe(
  api: Api,
  { receivers, person, device }: { receivers: Receivers; person: Pushed; device: Device },
): Promise<void> {
  const reply = await api.send("/v1/push/subscriptions", {
    bearer: person.key,
    type: "application/json",
    body: JSON.stringify(receivers.subscription(device.n)),
  });
  if (reply.status === 201) device.contactId = String(JSON.parse(reply.body).id);
}

const LONGEST_MS = 1500;

/**
 * One step of a person whose browsers come and go: a browser is subscribed, stays for a moment and is revoked. A
 * request without an answer is repeated in the next step.
 */
export function createRevoker(deps: {
  api: Api;
  clock: Clock;
  receivers: Receivers;
  person: Pushed;
  ledger: Pick<RunEvidence, "devices" | "oddAnswers">;
}): (choice: Seeded) => Promise<void> {
  const { api, clock, ledger, person } = deps;
  let device: Device | null = null;
  return async (choice) => {
    device ??= newDevice(ledger);
    if (device.contactId === null) await subscribe(api, { ...deps, device });
    if (device.contactId === null) return;
    if (!device.isLeaving) await sleep(clock, choice.between(0, LONGEST_MS));
    device.isLeaving = true;
    const at = `/v1/accounts/${person.accountId}/contacts/${device.contactId}`;
    const { status } = await api.call("DELETE", at);
    // Gone: an earlier request succeeded, and its answer was lost.
    if (status !== 200 && status !== 404) {
      ledger.oddAnswers.push(`DELETE of a push subscription was answered ${status}`);
      return;
    }
    device.revokedAt = clock.mono();
    device = null;
  };
}
