import { beDevice, ownDevice, type RenewedPush, renew, renewAgain } from "./device.ts";
import { answerFile, dropOldFiles, keepFiles } from "./files.ts";
import { answerClick, pressAgain, showPush } from "./notices.ts";
import { answerAct, answerDecision, maySend, sendHeld, tellPages } from "./outbox.ts";
import { keepNow, visitKept, visitPage } from "./pages.ts";
import { reachBox } from "./reach.ts";
import { ownBase, worker } from "./scope.ts";
import { DECIDE, workerWay } from "./which.ts";
import { forgetAll, forgetKept } from "./whose.ts";

/*
 * The service worker: the console without the box. It stands beside the pages' script and shares none of its state; browsers
 * start and end it as they like, so that what counts is in what it stored.
 */

worker.addEventListener("install", (event) => {
  // From the next page on, not after the last tab is closed: a phone's stays open for weeks.
  event.waitUntil(keepFiles().then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(dropOldFiles());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== worker.location.origin || !url.pathname.startsWith(`${ownBase}/`)) return;
  const path = url.pathname.slice(ownBase.length);
  const way = workerWay({
    method: request.method,
    path,
    search: url.search,
    isVisit: request.mode === "navigate",
    isScripted: request.headers.has("x-sections"),
  });
  const later = (work: Promise<unknown>) => event.waitUntil(work.catch(() => {}));
  if (way !== "file" && maySend()) later(wake());
  if (way === "file") event.respondWith(answerFile(request));
  else if (way === "kept") event.respondWith(visitKept(request, later));
  else if (way === "page") event.respondWith(visitPage(request));
  else if (way === "act") event.respondWith(answerAct(request));
  else if (way === "decide") {
    const [, id = "", verb = ""] = DECIDE.exec(path) ?? [];
    event.respondWith(answerDecision(id, verb));
  } else if (way === "sign-out") event.respondWith(leave(request));
  else if (way === "entry" && request.method === "GET") event.respondWith(enter(request));
  // Another site's form may come here, too: it forgets nothing.
  else if (way === "entry" && request.referrer.startsWith(worker.registration.scope))
    later(forgetKept("Somebody signed in."));
});

/** The page by which somebody came, before there was a worker to keep it. */
async function keepFirst(address: string): Promise<void> {
  const { origin, pathname, search } = new URL(address);
  if (origin !== worker.location.origin || !pathname.startsWith(`${ownBase}/`)) return;
  const seen = { method: "GET", path: pathname.slice(ownBase.length), search };
  if (workerWay({ ...seen, isVisit: true, isScripted: false }) === "kept") await keepNow(pathname);
}

/** Who is asked to sign in has no session any more; who only looks at the page may have. */
async function enter(request: Request): Promise<Response> {
  const answer = await visitPage(request);
  if (answer.ok && (await isSignedOut())) await forgetKept("You are signed out.");
  return answer;
}

async function isSignedOut(): Promise<boolean> {
  const asked = { headers: { Accept: "application/json" }, ms: 5_000 };
  return (await reachBox(`${ownBase}/live?wait=0`, asked))?.status === 401;
}

/** Before the answer is given: the next page finds nothing. */
async function leave(request: Request): Promise<Response> {
  await wake().catch(() => {});
  const answer = await fetch(await withDevice(request));
  if (answer.ok || answer.type === "opaqueredirect") await forgetAll();
  return answer;
}

/**
 * The box is told which device it is that leaves. Only where a page's own script asks: a form that comes by itself may be
 * another site's, and made anew here it would count as this box's.
 */
async function withDevice(request: Request): Promise<Request> {
  const device = await ownDevice();
  if (request.mode === "navigate" || device === null) return request;
  const body = new URLSearchParams(await request.clone().text());
  body.set("device", device.id);
  return new Request(request.url, { method: "POST", headers: request.headers, body });
}

worker.addEventListener("message", (event) => {
  if (event.data === "came") event.waitUntil(keepFirst((event.source as Client).url));
  if (event.data === "held") event.waitUntil(tellPages("", event.source as Client));
  if (typeof event.data?.device === "string") event.waitUntil(beDevice(event.data.device));
  if (event.data === "signed-out") event.waitUntil(forgetKept("You are signed out."));
});

worker.addEventListener("sync", (event) => {
  (event as unknown as ExtendableEvent).waitUntil(wake());
});

/** Throws where something is left: the browser tries again. */
async function wake(): Promise<void> {
  const left = [await pressAgain(), await renewAgain(), (await sendHeld()) !== "nothing"];
  if (left.includes(true)) throw new Error("the box doesn't know all of it");
}

worker.addEventListener("push", (event) => event.waitUntil(showPush(event)));
worker.addEventListener("pushsubscriptionchange", (event) => {
  (event as ExtendableEvent).waitUntil(renew(event as RenewedPush));
});
worker.addEventListener("notificationclick", (event) => event.waitUntil(answerClick(event)));
