import { askPage, isMarkup, noteIn } from "./ask.ts";
import { isShowingNew, shownRows } from "./lists.ts";
import { putSections } from "./morph.ts";
import { liveSections, ownAddress } from "./page.ts";
import { watches } from "./stream.ts";
import { parseAnswer } from "./trusted.ts";
import { signedOut } from "./unreached.ts";

/* Asks for sections anew: one request at a time, at most twice a second, however much changes. */

/** Milliseconds from one request to the next; a little more than half a second, so that five have ten at most. */
const GAP_MS = 550;
/** Pauses after a failure, seconds; after the last it is told in the section. */
const AGAIN = [1, 3, 9];

const wanted = new Set<string>();
/** Sections that changed while somebody was at work in them. */
const behind = new Set<string>();
/** The last answer's tag and what it answered; one is enough, since a quiet page asks the same again and again. */
let last = { ids: "", tag: "" };
let isAsking = false;
let askedAt = Number.NEGATIVE_INFINITY;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sections whose topics are among these; null: all that are live. */
export function refreshTopics(topics: readonly string[] | null): void {
  const touched = liveSections().filter(
    ({ dataset }) => topics === null || watches(dataset["live"] ?? "", topics),
  );
  refreshSections(touched.map(({ id }) => id));
}

export function refreshSections(ids: readonly string[]): void {
  for (const id of ids) wanted.add(id);
  plan(askedAt + GAP_MS - performance.now());
}

/** Whoever was at work in a section is done: what changed meanwhile is shown. */
export function refreshBehind(): void {
  if (behind.size > 0) refreshSections([...behind]);
}

/** A tab that comes back to sight asks for what it left out. */
export const refreshWaiting = (): void => refreshSections([]);

function plan(ms: number): void {
  if (isAsking || wanted.size === 0 || document.hidden) return;
  clearTimeout(timer);
  timer = setTimeout(ask, Math.max(0, ms));
}

async function ask(): Promise<void> {
  const ids = [...wanted].filter((id) => document.getElementById(id) !== null);
  wanted.clear();
  if (ids.length === 0) return;
  isAsking = true;
  askedAt = performance.now();
  const failed = await answer(ids).catch(() => "");
  isAsking = false;
  if (failed === null) failures = 0;
  else retry(ids, failed);
  plan(GAP_MS - (performance.now() - askedAt));
}

/** null where all went well; else a number to quote, empty where the box wasn't reached. */
async function answer(ids: string[]): Promise<string | null> {
  const sections = ids.flatMap((id) => document.getElementById(id) ?? []);
  const key = ids.join(",");
  const isFresh = ids.some(isShowingNew);
  const rows = shownRows(sections);
  const response = await askPage(ownAddress(), {
    headers: {
      Accept: "text/html",
      "X-Sections": key,
      ...(rows === "" ? {} : { "X-Rows": rows }),
      ...(last.ids === key && !isFresh ? { "If-None-Match": last.tag } : {}),
    },
  });
  if (response.status === 304) return null;
  if (response.redirected || response.status === 401) {
    signedOut();
    return null;
  }
  const isThere = response.ok || response.status === 404 || response.status === 410;
  if (!isThere || !isMarkup(response)) return response.headers.get("x-request-id") ?? "";
  const held = putSections(parseAnswer(await response.text()));
  last = { ids: key, tag: held.length > 0 ? "" : (response.headers.get("etag") ?? "") };
  for (const id of ids) behind.delete(id);
  for (const id of held) tellHeld(id);
  return null;
}

function tellHeld(id: string): void {
  behind.add(id);
  noteIn(id, "Changed just now", "Show", () => showAnyway(id));
}

async function showAnyway(id: string): Promise<void> {
  const response = await askPage(ownAddress(), {
    headers: { Accept: "text/html", "X-Sections": id },
  });
  if (!response.ok) return;
  putSections(parseAnswer(await response.text()), { anyway: true });
  behind.delete(id);
  last = { ids: "", tag: "" };
}

function retry(ids: string[], requestId: string): void {
  const pause = AGAIN[failures];
  failures += 1;
  if (pause !== undefined) {
    setTimeout(() => refreshSections(ids), pause * 1000);
    return;
  }
  failures = 0;
  const text = requestId === "" ? "Not refreshed" : `Not refreshed (request ${requestId})`;
  for (const id of ids) noteIn(id, text, "Try again", () => refreshSections([id]));
}

/** What a tab that nobody sees asks for: the title's count. */
export async function refreshTitle(): Promise<void> {
  const headers = { Accept: "text/html", "X-Sections": "title" };
  await askPage(ownAddress(), { headers }).catch(() => {});
}
