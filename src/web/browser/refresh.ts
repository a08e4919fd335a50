import { askPage, drawnAfterIn, isMarkup, noteIn } from "./ask.ts";
import { isShowingNew, shownRows } from "./lists.ts";
import { isShown, noteDrawn, putSections } from "./morph.ts";
import { liveSections, ownAddress } from "./page.ts";
import { watches } from "./stream.ts";
import { parseAnswer } from "./trusted.ts";
import { signedOut } from "./unreached.ts";

/*
 * Asks for sections anew: one request at a time and two in a second at most, however much changes. The first change after
 * a pause is asked for at once, a second one half a second later. While more and more changes it is one request a second:
 * the other is kept for what somebody does to an alert that is shown, which is asked for at once, too.
 */

/** Milliseconds in which there are two requests at most; a little more than a second, so that five have ten at most. */
const SECOND_MS = 1_020;
const HALF_MS = SECOND_MS / 2;
/** Pauses after a failure, seconds; after the last it is told in the section. */
const AGAIN = [1, 3, 9];

/** Sections to ask for, each with the latest change that it has to show; null: as it is now, whatever changed. */
const wanted = new Map<string, string | null>();
/** Sections that changed while somebody was at work in them. */
const behind = new Set<string>();
/** The last answer's tag and what it answered; one is enough, since a quiet page asks the same again and again. */
let last = { ids: "", tag: "" };
let isAsking = false;
/** Forms that wait for their answers, and when the last one was sent. */
let posted = 0;
let postedAt = Number.NEGATIVE_INFINITY;
/** Among what is wanted is what somebody did to an alert that is shown. */
let isUrgent = false;
/** When the last request began, and the one before it. */
let askedAt = Number.NEGATIVE_INFINITY;
let askedBefore = Number.NEGATIVE_INFINITY;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sections whose topics are among these, unless they show the change already; null: all that are live. */
export function refreshTopics(topics: readonly string[] | null, told: string): void {
  const touched = liveSections().filter(
    ({ id, dataset }) =>
      (topics === null || watches(dataset["live"] ?? "", topics)) && !isShown(id, told),
  );
  if (touched.length > 0) isUrgent ||= topics?.some(isInSight) === true;
  for (const { id } of touched) if (wanted.get(id) !== null) wanted.set(id, told);
  plan();
}

/** Whether it is an alert that the page shows: what is told of one is what somebody did, or how it ended. */
function isInSight(topic: string): boolean {
  const [, id] = /^alert:(\d+)$/.exec(topic) ?? [];
  if (id === undefined) return false;
  if (document.getElementById(`row-${id}`)) return true;
  return liveSections().some(({ dataset }) => dataset["live"]?.split(" ").includes(topic));
}

export function refreshSections(ids: readonly string[]): void {
  for (const id of ids) wanted.set(id, null);
  plan();
}

/** Whoever was at work in a section is done: what changed meanwhile is shown. */
export function refreshBehind(): void {
  if (behind.size > 0) refreshSections([...behind]);
}

/** A tab that comes back to sight asks for what it left out. */
export const refreshWaiting = (): void => refreshSections([]);

/**
 * A form is sent: what is told from now on is most likely what it did, and stands in its answer, so that a request for it would
 * only use up the next one's turn. An answer that takes long isn't waited for. To be called when it is there.
 */
export function formPosted(): () => void {
  posted += 1;
  postedAt = performance.now();
  return () => {
    posted -= 1;
    forgetShown();
    plan();
  };
}

/** What was told on the way and stands in an answer that came. */
function forgetShown(): void {
  for (const [id, told] of wanted) if (told !== null && isShown(id, told)) wanted.delete(id);
}

function plan(): void {
  isUrgent &&= wanted.size > 0;
  clearTimeout(timer);
  if (isAsking || wanted.size === 0 || document.hidden) return;
  const isStream = askedAt - askedBefore < SECOND_MS + HALF_MS;
  const gap = isUrgent ? 0 : isStream ? SECOND_MS : HALF_MS;
  const answered = posted > 0 ? postedAt + HALF_MS : 0;
  const due = Math.max(askedBefore + SECOND_MS, askedAt + gap, answered);
  timer = setTimeout(ask, Math.max(0, due - performance.now()));
}

async function ask(): Promise<void> {
  const ids = [...wanted.keys()].filter((id) => document.getElementById(id) !== null);
  wanted.clear();
  isUrgent = false;
  if (ids.length === 0) return;
  isAsking = true;
  askedBefore = askedAt;
  askedAt = performance.now();
  const failed = await answer(ids).catch(() => "");
  isAsking = false;
  forgetShown();
  if (failed === null) failures = 0;
  else retry(ids, failed);
  plan();
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
  const since = drawnAfterIn(response);
  if (response.status === 304) {
    for (const id of ids) noteDrawn(id, since);
    return null;
  }
  if (response.redirected || response.status === 401) {
    signedOut();
    return null;
  }
  const isThere = response.ok || response.status === 404 || response.status === 410;
  if (!isThere || !isMarkup(response)) return response.headers.get("x-request-id") ?? "";
  const held = putSections(parseAnswer(await response.text()), { since });
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
  putSections(parseAnswer(await response.text()), { anyway: true, since: drawnAfterIn(response) });
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
