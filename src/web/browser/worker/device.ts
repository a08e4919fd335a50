import { keyText } from "../key-text.ts";
import { answeredAs } from "./acts.ts";
import { wakeLater } from "./outbox.ts";
import { reachBox } from "./reach.ts";
import { dropRecord, getRecord, putRecord } from "./records.ts";
import { fileAddress, ownBase, worker } from "./scope.ts";

/* Which of its person's devices this browser is, and what it does when its push service wants it to subscribe anew. */

interface Device {
  id: string;
  /** Since when: browser's clock, unix milliseconds. */
  at?: number;
}

export const ownDevice = (): Promise<Device | null> => getRecord<Device>("device");
export const beDevice = (id: string): Promise<void> => putRecord("device", { id, at: Date.now() });

/** It is nobody's any more. */
export async function dropDevice(): Promise<void> {
  await dropRecord("device");
  await dropRecord(RENEWAL);
}

export interface RenewedPush {
  oldSubscription?: PushSubscription | null;
  newSubscription?: PushSubscription | null;
}

/** A subscription that the box doesn't know yet, as its form sends it. */
interface Renewal {
  fields: Record<string, string>;
}

const RENEWAL = "renewal";
const TAG = "device";

/** Takes the old one's place at the box; where it can't yet, that is said: nobody would ring meanwhile. */
export async function renew(event: RenewedPush): Promise<void> {
  const device = await ownDevice();
  const fresh = event.newSubscription ?? (await again(event.oldSubscription ?? null));
  if (device !== null && fresh !== null) {
    await putRecord(RENEWAL, { fields: formOf(device, fresh) });
    const came = await send();
    if (came === "taken") return;
    if (came === "later") await wakeLater();
  }
  await tell("Its push service wants it to be added again: open My devices.");
}

/**
 * `known`: its person's devices, as a page has them that was asked for at `began`. One that the box has no more, removed elsewhere or
 * gone with a backup that is older, says so once.
 */
export async function missDevice(known: readonly string[], began: number): Promise<void> {
  const device = await ownDevice();
  if (device === null || known.includes(device.id) || (device.at ?? 0) >= began) return;
  await dropDevice();
  await tell("The box has no such device any more: open My devices, and add it if it should ring.");
}

async function tell(body: string): Promise<void> {
  const told = {
    title: "This browser isn’t rung any more",
    body,
    tag: TAG,
    navigate: "/me/devices",
    data: { kind: "test" },
  };
  await worker.registration.showNotification(told.title, {
    body,
    tag: TAG,
    data: told,
    requireInteraction: true,
    icon: fileAddress("icon-192.png"),
    badge: fileAddress("badge-96.png"),
  });
}

/** Signed out the box says no, and counts it: it isn't asked more often than this, milliseconds. */
const GAP_MS = 60_000;
let lastTry = Number.NEGATIVE_INFINITY;

/** Tries again what the box couldn't be told. Whether it still doesn't know. */
export async function renewAgain(): Promise<boolean> {
  if ((await getRecord<Renewal>(RENEWAL)) === null) return false;
  if (performance.now() - lastTry < GAP_MS) return true;
  const came = await send();
  if (came !== "taken") return came === "later";
  for (const one of await worker.registration.getNotifications({ tag: TAG })) one.close();
  return false;
}

/** `refused`: the box won't have it, however often it is asked. */
async function send(): Promise<"taken" | "later" | "refused"> {
  lastTry = performance.now();
  const { fields = {} } = (await getRecord<Renewal>(RENEWAL)) ?? {};
  const answer = await reachBox(`${ownBase}/me/devices/browser`, {
    method: "POST",
    ms: 15_000,
    headers: { Accept: "text/html", "X-Sections": "1" },
    body: new URLSearchParams(fields),
  });
  const made = /data-device="([0-9a-f]+)"/.exec((await answer?.text()) ?? "")?.[1];
  if (answer?.ok && made !== undefined) {
    await beDevice(made);
    await dropRecord(RENEWAL);
    return "taken";
  }
  if (answer === null || answer.status === 401 || answeredAs(answer.status) === "later")
    return "later";
  await dropRecord(RENEWAL);
  return "refused";
}

async function again(old: PushSubscription | null): Promise<PushSubscription | null> {
  const key = old?.options.applicationServerKey;
  if (!key) return null;
  const how = { userVisibleOnly: true, applicationServerKey: key };
  return worker.registration.pushManager.subscribe(how).catch(() => null);
}

function formOf({ id }: Device, fresh: PushSubscription): Renewal["fields"] {
  const { endpoint = "", keys = {} } = fresh.toJSON();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const key = fresh.options?.applicationServerKey;
  return {
    endpoint,
    p256dh: keys["p256dh"] ?? "",
    auth: keys["auth"] ?? "",
    timezone: timeZone,
    replaces: id,
    // One that was made with a key that the box has no more is worth nothing.
    ...(key && { server_key: keyText(key) }),
  };
}
