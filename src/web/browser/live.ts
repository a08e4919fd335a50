import { askPage } from "./ask.ts";
import { heardTime } from "./box-clock.ts";
import { drawnAfter, liveSections, pageBase } from "./page.ts";
import { refreshTitle, refreshTopics, refreshWaiting } from "./refresh.ts";
import { allTopics, createStreamReader, readTopics, type StreamEvent } from "./stream.ts";
import { boxAnswered, boxUnreached, signedOut } from "./unreached.ts";

/* Follows what changes on the box, while the page is seen: by a stream, or where none comes through by asking. */

/** How one try to follow ended. */
type Ended =
  | "heard" // a poll was answered, or it goes on at another address
  | "bye" // the box stops, or starts anew
  | "broken" // it was there, and went
  | "quiet" // it stands and says nothing: something between swallows it
  | "refused" // too many streams
  | "unreached"
  | "signed-out";

/** The box says a word every 15 s. */
const QUIET_MS = 40_000;
const POLL_SECONDS = 25;
/** Failures after which a stream isn't tried for a while, and for how long. */
const MOST_FAILURES = 3;
const POLLING_MS = 300_000;
/** Pauses before the next try: at random, so that a box that starts anew isn't asked by all at once. */
const LEAST_PAUSE_MS = 300;
const PAUSE_MS = 1_700;
const TITLE_MS = 60_000;

let since = drawnAfter;
let running: AbortController | null = null;
/** What is asked just now: the box tells only what its address names. */
let turn = { at: "", end: (): void => {} };
let wake = (): void => {};

/** From now on the page is as new as the box, while somebody can see it. */
export function followBox(): void {
  if (liveSections().length === 0) return;
  const update = () => (document.hidden ? pause() : resume());
  document.addEventListener("visibilitychange", update);
  // A section may show something else than before: a new channel, whose deliveries it follows.
  document.addEventListener("drawn", () => {
    if (address() !== turn.at) turn.end();
  });
  // With an open stream a page isn't kept for Back.
  addEventListener("pagehide", pause);
  addEventListener("pageshow", update);
  setInterval(() => {
    if (document.hidden) void refreshTitle();
  }, TITLE_MS);
  update();
}

function pause(): void {
  running?.abort();
  running = null;
}

function resume(): void {
  if (running !== null) return;
  running = new AbortController();
  refreshWaiting();
  void follow(running.signal);
}

async function follow(signal: AbortSignal): Promise<void> {
  let failures = 0;
  let pollsUntil = 0;
  while (!signal.aborted) {
    const isPoll = performance.now() < pollsUntil;
    const ended = await (isPoll ? poll(signal, POLL_SECONDS) : stream(signal));
    if (signal.aborted) return;
    if (ended === "signed-out") return signedOut();
    if (ended === "heard") {
      failures = 0;
      continue;
    }
    if (ended === "quiet" || ended === "refused") {
      pollsUntil = isPoll ? 0 : performance.now() + POLLING_MS;
      if (isPoll) await rest(signal);
      continue;
    }
    if (ended !== "bye") {
      failures += 1;
      if (failures >= MOST_FAILURES) pollsUntil = performance.now() + POLLING_MS;
      if (await isDown(ended, isPoll, signal)) boxUnreached(() => wake());
    }
    await rest(signal);
  }
}

/** Whether the other way is closed, too. */
async function isDown(ended: Ended, wasPoll: boolean, signal: AbortSignal): Promise<boolean> {
  if (wasPoll) return ended === "unreached";
  return (await poll(signal, 0)) === "unreached" && !signal.aborted;
}

/** Waits a little, at random; *Try now* ends it. */
function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LEAST_PAUSE_MS + Math.random() * PAUSE_MS);
    signal.addEventListener("abort", () => resolve(), { once: true });
    wake = resolve;
  });
}

function address(): string {
  const topics = allTopics(liveSections().map(({ dataset }) => dataset["live"] ?? ""));
  return `${pageBase}/live?watch=${encodeURIComponent(topics)}`;
}

async function poll(signal: AbortSignal, wait: number): Promise<Ended> {
  const known = since === null ? "" : `&since=${encodeURIComponent(since)}`;
  const own = new AbortController();
  const at = address();
  turn = { at, end: () => own.abort() };
  try {
    const response = await askPage(`${at}${known}&wait=${wait}`, {
      signal: AbortSignal.any([signal, own.signal]),
      patience: (wait + 10) * 1000,
      headers: { Accept: "application/json" },
    });
    if (!response.ok) return refusal(response);
    const answer = (await response.json()) as { next?: unknown; reset?: unknown };
    if (typeof answer.next === "string") since = answer.next;
    const topics = readTopics(answer);
    if (answer.reset === true) refreshTopics(null, since ?? "");
    else if (topics !== null && topics.length > 0) refreshTopics(topics, since ?? "");
    return "heard";
  } catch {
    return own.signal.aborted ? "heard" : "unreached";
  }
}

function refusal({ status }: Response): Ended {
  if (status === 401 || status === 403 || status === 404) return "signed-out";
  return status === 429 || status === 503 ? "refused" : "unreached";
}

async function stream(signal: AbortSignal): Promise<Ended> {
  // Its own end, besides the page's: silence.
  const own = new AbortController();
  const both = AbortSignal.any([signal, own.signal]);
  const watch = () => setTimeout(() => own.abort(), QUIET_MS);
  let timer = watch();
  let isBye = false;
  let isElsewhere = false;
  const at = address();
  const end = () => {
    isElsewhere = true;
    own.abort();
  };
  turn = { at, end };
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (since !== null) headers["Last-Event-ID"] = since;
    const response = await fetch(at, { headers, cache: "no-store", signal: both });
    if (!response.ok || response.body === null) return refusal(response);
    heardTime(response);
    boxAnswered();
    const read = createStreamReader((event) => {
      isBye ||= event.event === "bye";
      heard(event);
    });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer);
      timer = watch();
      boxAnswered();
      read(piece.value);
      if (isBye) return "bye";
    }
    return "broken";
  } catch {
    return isElsewhere ? "heard" : own.signal.aborted ? "quiet" : "broken";
  } finally {
    clearTimeout(timer);
    own.abort();
  }
}

function heard({ event, data, id }: StreamEvent): void {
  if (id !== "") since = id;
  if (event === "reset") refreshTopics(null, id);
  const topics = event === "change" ? readTopics(readJson(data)) : null;
  if (topics !== null) refreshTopics(topics, id);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
