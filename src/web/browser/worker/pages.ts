import { hourAt } from "./clock-words.ts";
import { missDevice } from "./device.ts";
import { DRAWN_HEADERS, drawnPage, notKept } from "./drawn-page.ts";
import { type KeptEntry, pageFacts, shownAgain, tooMuch, unreachedLine } from "./kept-page.ts";
import { pushedAlert } from "./pushed.ts";
import { pushedPage } from "./pushed-page.ts";
import { reachBox } from "./reach.ts";
import { drawnPlace, ownBase, ownHash } from "./scope.ts";
import { beWhose } from "./whose.ts";

/* Pages: from the box, else as they were. */

/** So long the box is waited for where a page is kept, milliseconds. */
const PATIENCE_MS = 2_500;
const STORE = "pages";
const KEPT_AT = "x-kept-at";

type Later = (work: Promise<unknown>) => void;

/** The network, and where that takes too long or fails the page as it was kept. `later` goes on after the answer. */
export async function visitKept(request: Request, later: Later): Promise<Response> {
  const address = new URL(request.url).pathname;
  const began = Date.now();
  const asked = reachBox(request).then(async (answer) => {
    if (answer !== null) later(keep(address, answer.clone(), began));
    return answer;
  });
  later(asked);
  const slow = new Promise<"slow">((resolve) => setTimeout(() => resolve("slow"), PATIENCE_MS));
  const first = await Promise.race([asked, slow]);
  if (first !== null && first !== "slow") return first;
  return (
    (await keptPage(address)) ??
    (await pageOfPush(address)) ??
    (await asked) ??
    (await notKeptPage())
  );
}

/** Keeps a page that the browser got without this worker. */
export async function keepNow(address: string): Promise<void> {
  const began = Date.now();
  const answer = await reachBox(address, { headers: { Accept: "text/html" } });
  if (answer !== null) await keep(address, answer, began);
}

/** A page that is never kept. */
export async function visitPage(request: Request): Promise<Response> {
  const answer = await reachBox(request);
  if (answer !== null) return answer;
  const isRoot = new URL(request.url).pathname === `${ownBase}/`;
  return isRoot ? Response.redirect(`${ownBase}/alerts`) : notKeptPage();
}

async function keep(address: string, answer: Response, began: number): Promise<void> {
  const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true;
  // What is shown once is kept nowhere.
  const isOnce = /no-store/.test(answer.headers.get("cache-control") ?? "");
  const isThere = answer.status === 200 && !answer.redirected;
  if (!isThere || !isPage || isOnce) return;
  const text = await answer.text();
  const facts = pageFacts(text);
  if (facts.who === "") return;
  await beWhose(facts.who);
  await missDevice(facts.devices, began);
  const store = await caches.open(STORE);
  const alert = /\/a\/(\d+)$/.exec(address)?.[1];
  const isOver = facts.isResolved && alert !== undefined && (await pushedAlert(alert)) === null;
  if (isOver) await store.delete(address);
  else await store.put(address, new Response(text, { headers: headersOf(answer) }));
  for (const old of tooMuch(await entries(store), Date.now())) await store.delete(old);
}

function headersOf({ headers }: Response): Headers {
  const own = new Headers(headers);
  // Of how it was sent, not of the text.
  for (const name of ["content-encoding", "content-length", "etag", "vary"]) own.delete(name);
  own.set(KEPT_AT, String(Date.now()));
  return own;
}

const keptAt = ({ headers }: Response): number => Number(headers.get(KEPT_AT));

async function entries(store: Cache): Promise<KeptEntry[]> {
  const all: KeptEntry[] = [];
  for (const request of await store.keys()) {
    const found = await store.match(request);
    if (found) all.push({ address: new URL(request.url).pathname, at: keptAt(found) });
  }
  return all;
}

async function keptPage(address: string): Promise<Response | null> {
  const found = await caches.match(address, { cacheName: STORE });
  if (found === undefined) return null;
  const text = await found.text();
  const how = { keptAt: keptAt(found), now: Date.now(), hash: ownHash };
  if (how.now - how.keptAt > 7 * 86_400_000) return null;
  return new Response(shownAgain(text, how), { headers: found.headers });
}

/** An alert that this browser was pushed, and that nobody opened here: what the push told. */
async function pageOfPush(address: string): Promise<Response | null> {
  const alert = /\/a\/(\d+)$/.exec(address)?.[1];
  const told = alert === undefined ? null : await pushedAlert(alert);
  if (told === null) return null;
  const place = drawnPlace();
  const asOf = hourAt(told.data.server_time * 1000, place.now, place.zone);
  const page = { ...pushedPage(told, place), bar: unreachedLine(asOf) };
  return new Response(drawnPage(place, page), { headers: DRAWN_HEADERS });
}

async function notKeptPage(): Promise<Response> {
  const place = drawnPlace();
  const store = await caches.open(STORE);
  const kept = [];
  for (const { address } of await entries(store)) {
    const found = await store.match(address);
    const facts = pageFacts((await found?.text()) ?? "");
    const asOf = hourAt(facts.drawnAt, place.now, facts.zone);
    kept.push({ address, title: facts.title.replace(/ · box$/, ""), asOf });
  }
  const page = { ...notKept(kept), bar: "" };
  return new Response(drawnPage(place, page), { status: 503, headers: DRAWN_HEADERS });
}
