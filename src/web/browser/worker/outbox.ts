import {
  actName,
  alertsOf,
  answeredAs,
  fateOf,
  type HeldAct,
  heldAnswer,
  heldLine,
  isFree,
  isSameAct,
  saidIn,
} from "./acts.ts";
import { DRAWN_HEADERS } from "./drawn-page.ts";
import { reachBox } from "./reach.ts";
import { dropRecord, listRecords, putRecord } from "./records.ts";
import { drawnPlace, ownBase, worker } from "./scope.ts";

/* Acts on their way: sent at once where the box is there, else held and sent when it answers. */

/** After this a form counts as not sent, milliseconds: its page waits for 20 s. */
const PATIENCE_MS = 15_000;
/** Tries of what is held are this far apart at least, milliseconds. */
const GAP_MS = 1_500;
const PREFIX = "act/";
/** By what the box knows an act that comes again. */
const NAME = "X-Act";

const heldActs = async (): Promise<HeldAct[]> =>
  (await listRecords<HeldAct>(PREFIX)).map(([, act]) => act);

const sections = (body: string): Response =>
  new Response(body, { headers: { ...DRAWN_HEADERS, "X-Held": "1" } });

/** A form of an act. It has a name from its first sending on, so that what was done though its answer was lost isn't done again. */
export async function answerAct(request: Request): Promise<Response> {
  const copy = request.clone();
  const now = Date.now();
  const path = new URL(request.url).pathname.slice(ownBase.length);
  // Sorted by their names, which begin with when they were made.
  const id = `${String(now).padStart(15, "0")}-${crypto.randomUUID().slice(0, 8)}`;
  const headers = new Headers(request.headers);
  headers.set(NAME, id);
  // What waits goes first: an un-acknowledgement must not overtake what it takes back.
  const isWaiting = (await heldActs()).some((act) => fateOf(act, now) === "send");
  const left = isWaiting ? await sendHeld() : "nothing";
  const act: HeldAct = { id, path, body: await copy.text(), at: now };
  const held = (await heldActs()).filter((one) => fateOf(one, Date.now()) === "send");
  const isNext = left !== "unreached" && isFree(act, held);
  const again = new Request(request, { headers });
  // Else it comes from the worker: the box answers for the page that the form stands on.
  const referrer = request.referrer || "about:client";
  const answer = isNext ? await reachBox(again, { ms: PATIENCE_MS, referrer }) : null;
  if (answer !== null) return answer;
  if (!(await heldActs()).some((other) => isSameAct(other, act))) await putRecord(PREFIX + id, act);
  await wakeLater();
  await tellPages();
  return sections(heldAnswer(act, drawnPlace().zone));
}

/** What somebody decided of one that is too old, or that they want no more. */
export async function answerDecision(id: string, verb: string): Promise<Response> {
  const act = (await heldActs()).find((one) => one.id === id);
  let said = "";
  if (act !== undefined && verb === "drop") {
    await dropRecord(PREFIX + id);
    said = `Discarded: ${actName(act)}.`;
  } else if (act !== undefined) said = (await send(act)).said;
  await tellPages(said);
  const words = said === "" ? "It isn’t held any more." : said;
  return sections(`<output id="said" class="said" role="status">${words}</output>`);
}

interface Sent {
  left: Left;
  /** What came of it, in a sentence. */
  said: string;
}

/** What is still held: nothing; something that the box is too busy for; or the box can't be reached. */
type Left = "nothing" | "busy" | "unreached";

async function send(act: HeldAct): Promise<Sent> {
  const answer = await reachBox(ownBase + act.path, {
    method: "POST",
    body: new URLSearchParams(act.body),
    ms: PATIENCE_MS,
    redirect: "manual",
    headers: { Accept: "text/html", "X-Sections": "1", [NAME]: act.id },
  });
  if (answer === null) return { left: "unreached", said: "Not sent: the box can’t be reached." };
  const name = actName(act);
  const came = answeredAs(answer.status);
  if (came === "later")
    return { left: "busy", said: "Not sent: the box is busy. It is tried again." };
  if (came === "taken") {
    await dropRecord(PREFIX + act.id);
    // It may be that nothing was done: somebody was quicker, or is asked first.
    const words = saidIn(await answer.text().catch(() => ""));
    return { left: "nothing", said: `Sent: ${name}. ${words}`.trim() };
  }
  const { refused } = came;
  await putRecord(PREFIX + act.id, { ...act, refused });
  return { left: "nothing", said: `Not sent: ${name}, since ${refused}.` };
}

let lastTry = Number.NEGATIVE_INFINITY;
let sending: Promise<Left> | null = null;

/** Something is asked of the box, which perhaps is there again: whether it is time for another try. */
export function maySend(): boolean {
  if (performance.now() - lastTry < GAP_MS) return false;
  lastTry = performance.now();
  return true;
}

/** Sends what is still young, the oldest first. What is left of it. */
export async function sendHeld(): Promise<Left> {
  sending ??= sendAll().finally(() => {
    sending = null;
  });
  return sending;
}

async function sendAll(): Promise<Left> {
  const said: string[] = [];
  const stuck: HeldAct[] = [];
  let left: Left = "nothing";
  for (const act of await heldActs()) {
    if (left === "unreached" || fateOf(act, Date.now()) !== "send" || !isFree(act, stuck)) continue;
    const sent = await send(act);
    if (sent.left === "nothing") said.push(sent.said);
    else {
      left = sent.left;
      stuck.push(act);
    }
  }
  if (said.length > 0) await tellPages(said.join(" "));
  return left;
}

/** Where there is Background Sync, the browser wakes this worker when it has a network again. */
export async function wakeLater(): Promise<void> {
  const { sync } = worker.registration as ServiceWorkerRegistration & {
    sync?: { register(tag: string): Promise<void> };
  };
  await sync?.register("held").catch(() => {});
}

/** What is held, told to every open page, or to one that asks. */
export async function tellPages(said = "", only: Client | null = null): Promise<void> {
  const acts = await heldActs();
  const place = drawnPlace();
  const markup = heldLine(acts, { ...place, said });
  const told = { held: markup, unsent: acts.flatMap(alertsOf) };
  const pages = only === null ? await worker.clients.matchAll({ type: "window" }) : [only];
  for (const page of pages) page.postMessage(told);
}

/** Lets go of all that is held, and says so: nothing is lost in silence. */
export async function dropHeld(why: string): Promise<void> {
  const acts = await heldActs();
  for (const { id } of acts) await dropRecord(PREFIX + id);
  if (acts.length === 0) return;
  const said = `Not sent, and won’t be: ${acts.map(actName).join(", ")}. ${why}`;
  await tellPages(said);
  const pages = await worker.clients.matchAll({ type: "window" });
  if (pages.some(({ visibilityState }) => visibilityState === "visible")) return;
  await worker.registration.showNotification("Not sent", { body: said }).catch(() => {});
}
