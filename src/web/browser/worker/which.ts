/*
 * What the service worker does with a request. Pure: the same file runs in tests. Whatever isn't a page of the console, one of
 * its files or one of four forms is none of its business: the browser asks for it as if there were no worker.
 */

/** A request of this origin. `path`: below the base, beginning with "/". */
interface SeenRequest {
  method: string;
  path: string;
  search: string;
  /** The browser goes to a page. */
  isVisit: boolean;
  /** A page's script asks for sections, or posts a form. */
  isScripted: boolean;
}

export type WorkerWay =
  /** The worker isn't in it. */
  | "pass"
  /** Out of the cache: its address changes with what is in it. */
  | "file"
  /** The network, else the page that was kept. */
  | "kept"
  /** The network, else a page that says that this one isn't kept. */
  | "page"
  /** The network, else held as not sent. */
  | "act"
  /** What somebody decides of acts that weren't sent: of the worker alone, the box has no such address. */
  | "decide"
  /** Whoever was signed in isn't any more. */
  | "entry"
  /** The same, by their own will: nothing of theirs stays. */
  | "sign-out";

/** First segments of the addresses of pages. */
const PAGES = new Set(
  "alerts a p oncall search more silences heartbeats people me system audit simulate welcome ladders new-ladder numbers".split(
    " ",
  ),
);

/** Where somebody comes in: they have no session, or another's. */
const ENTRY = /^\/(?:signin(?:\/[\w/-]*)?|phone)$/;

const KEPT = /^\/(?:alerts|oncall|me\/devices)$/;
const KEPT_ALERT = /^\/a\/[1-9]\d{0,15}$/;
const ACT = /^\/(?:a\/[1-9]\d{0,15}|alerts)\/(?:ack|unack|resolve|note)$/;

/** Decisions about held acts: `/held/{id}/send` and `/held/{id}/drop`. */
export const DECIDE = /^\/held\/([\w-]{1,64})\/(send|drop)$/;

export function workerWay({ method, path, search, isVisit, isScripted }: SeenRequest): WorkerWay {
  if (method === "GET" && path.startsWith("/assets/")) return "file";
  if (method === "POST") {
    if (path === "/signout" && (isVisit || isScripted)) return "sign-out";
    if (isVisit && (ENTRY.test(path) || path === "/pair")) return "entry";
    if (isScripted && ACT.test(path)) return "act";
    return isScripted && DECIDE.test(path) ? "decide" : "pass";
  }
  if (method !== "GET" || !isVisit) return "pass";
  if (ENTRY.test(path)) return "entry";
  if (path === "/signout") return "page";
  if (KEPT.test(path)) return search === "" ? "kept" : "page";
  if (KEPT_ALERT.test(path)) return "kept";
  return path === "/" || PAGES.has(path.split("/", 2)[1] ?? "") ? "page" : "pass";
}

/** Whether an answer is the box's own, and not of a proxy that can't reach it. */
export const isFromBox = (status: number, requestId: string | null): boolean =>
  requestId !== null || ![502, 503, 504].includes(status);
