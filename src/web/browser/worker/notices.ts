import { isFresh } from "./acts.ts";
import {
  capabilityIn,
  noticeOfPush,
  outcomeNotice,
  type Pressed,
  pressedAs,
  type ShownNotice,
  tapAddress,
  unknownNotice,
} from "./notice.ts";
import { wakeLater } from "./outbox.ts";
import { rememberTold } from "./pushed.ts";
import { reachBox } from "./reach.ts";
import { dropRecord, getRecord, listRecords, putRecord } from "./records.ts";
import { drawnPlace, fileAddress, ownBase, worker } from "./scope.ts";
import { type PushTold, readTold } from "./told.ts";

/* Notifications: shown, answered, and told what came of the answer. None of it needs a session. */

const PATIENCE_MS = 10_000;
const PREFIX = "press/";

/** *Acknowledge* was pressed and the box doesn't know yet. */
interface Press {
  told: PushTold;
  /** When: browser's clock, unix milliseconds. */
  at: number;
}

const pictures = {
  icon: fileAddress("icon-192.png"),
  badge: fileAddress("badge-96.png"),
};

const show = ({ title, options }: ShownNotice): Promise<void> =>
  worker.registration.showNotification(title, options);

/** Safari hands over a notification that it would show itself. */
interface DeclaredPush {
  notification?: PushTold;
}

export async function showPush(event: PushEvent): Promise<void> {
  const told = readTold(jsonOf(event.data)) ?? readTold(event as DeclaredPush);
  if (told === null) return show(unknownNotice(pictures));
  await show(noticeOfPush(told, pictures));
  // That it was shown is a fact from here on, whatever becomes of the rest.
  await Promise.all([tellShown(told), rememberTold(told), stopPressing(told)]);
}

function jsonOf(data: PushMessageData | null): unknown {
  try {
    return data?.json() ?? null;
  } catch {
    return null;
  }
}

async function tellShown({ data: { receipt } }: PushTold): Promise<void> {
  if (!receipt) return;
  await reachBox(`${ownBase}/push/seen`, {
    method: "POST",
    credentials: "omit",
    ms: PATIENCE_MS,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ receipt }),
  });
}

/** What became of an alert came by push: there is nothing to try again. */
async function stopPressing({ tag, data }: PushTold): Promise<void> {
  if (data.kind === "note") await dropRecord(PREFIX + tag);
}

export async function answerClick({ action, notification }: NotificationEvent): Promise<void> {
  const told = readTold({ notification: notification.data });
  if (action === "ack" && told?.data.ack) return press(told);
  notification.close();
  // That it came is known by its receipt; there is nothing else to say.
  if (action === "here") return;
  await open(told === null ? `${ownBase}/alerts` : tapAddress(told, ownBase));
}

async function open(address: string): Promise<void> {
  const url = new URL(address, worker.location.href);
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = pages.find((page) => new URL(page.url).pathname === url.pathname);
  if (there !== undefined) await there.focus();
  else await worker.clients.openWindow(url.href);
}

/** Pressed now, also where it was pressed before and given up. */
async function press(told: PushTold): Promise<void> {
  const one: Press = { told, at: Date.now() };
  await putRecord(PREFIX + told.tag, one);
  if (await isStuck(one, true)) await wakeLater();
}

/** Sends what was pressed and isn't known yet. Returns whether some of it couldn't be. */
export async function pressAgain(): Promise<boolean> {
  let isAny = false;
  for (const [, one] of await listRecords<Press>(PREFIX)) if (await isStuck(one)) isAny = true;
  return isAny;
}

/** One try. What it came to takes the notification's place; where the box isn't there that is said once. */
async function isStuck(one: Press, isFirst = false): Promise<boolean> {
  const { told, at } = one;
  const key = PREFIX + told.tag;
  if (!isFresh(at, Date.now())) {
    await end(key, one, { kind: "given-up" });
    return false;
  }
  const answer = await reachBox(`${ownBase}/ack/${capabilityIn(told.data.ack ?? "")}`, {
    method: "POST",
    credentials: "omit",
    ms: PATIENCE_MS,
    headers: { Accept: "application/json" },
  });
  if (answer === null || answer.status === 429 || answer.status >= 500) {
    const why: Pressed =
      answer === null ? { kind: "unreached" } : { kind: "refused", status: answer.status };
    if (isFirst) await showOutcome(told, why);
    return true;
  }
  await end(key, one, pressedAs(answer.status, await answer.json().catch(() => null)));
  return false;
}

async function end(key: string, { told, at }: Press, pressed: Pressed): Promise<void> {
  // Pressed anew meanwhile: that one's own end is told.
  if ((await getRecord<Press>(key))?.at !== at) return;
  await dropRecord(key);
  await showOutcome(told, pressed);
}

async function showOutcome(told: PushTold, pressed: Pressed): Promise<void> {
  await show(outcomeNotice(told, pressed, { ...drawnPlace(), pictures }));
}
