import { reachBox } from "./reach.ts";
import { getRecord, putRecord } from "./records.ts";
import { fileAddress, ownBase, worker } from "./scope.ts";

/* Which of its person's devices this browser is, and what it does when its push service wants it to subscribe anew. */

interface Device {
  id: string;
}

export const ownDevice = (): Promise<Device | null> => getRecord<Device>("device");
export const beDevice = (id: string): Promise<void> => putRecord("device", { id });

export interface RenewedPush {
  oldSubscription?: PushSubscription | null;
  newSubscription?: PushSubscription | null;
}

/** Takes the old one's place at the box; where it can't, that is said: nobody would ring any more. */
export async function renew(event: RenewedPush): Promise<void> {
  const device = await ownDevice();
  const fresh = event.newSubscription ?? (await again(event.oldSubscription ?? null));
  if (device !== null && fresh !== null && (await isTaken(device, fresh))) return;
  const told = {
    title: "This browser isn’t rung any more",
    ...{ body: "Its push service wants it to be added again: open My devices.", tag: "device" },
    ...{ navigate: "/me/devices", data: { kind: "test" } },
  };
  await worker.registration.showNotification(told.title, {
    ...{ body: told.body, tag: told.tag, data: told, requireInteraction: true },
    ...{ icon: fileAddress("icon-192.png"), badge: fileAddress("badge-96.png") },
  });
}

async function again(old: PushSubscription | null): Promise<PushSubscription | null> {
  const key = old?.options.applicationServerKey;
  if (!key) return null;
  const how = { userVisibleOnly: true, applicationServerKey: key };
  return worker.registration.pushManager.subscribe(how).catch(() => null);
}

async function isTaken({ id }: Device, fresh: PushSubscription): Promise<boolean> {
  const { endpoint = "", keys = {} } = fresh.toJSON();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const answer = await reachBox(`${ownBase}/me/devices/browser`, {
    ...{ method: "POST", ms: 15_000, headers: { Accept: "text/html", "X-Sections": "1" } },
    body: new URLSearchParams({
      ...{ endpoint, p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" },
      ...{ timezone: timeZone, replaces: id },
    }),
  });
  const made = /data-device="([0-9a-f]+)"/.exec((await answer?.text()) ?? "")?.[1];
  if (!answer?.ok || made === undefined) return false;
  await beDevice(made);
  return true;
}
