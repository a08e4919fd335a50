import { showBadge } from "./badge.ts";
import { heardTime } from "./box-clock.ts";
import { boxAnswered } from "./unreached.ts";

/** How long an answer may take, milliseconds; a poll may park for longer. */
const PATIENCE_MS = 20_000;

/**
 * Asks the box. Nothing of it goes into the browser's cache, where it would push out the page that Back goes to. Throws
 * TypeError where the box can't be reached, DOMException where `signal` ends it or it takes too long.
 */
export async function askPage(
  address: string,
  { patience = PATIENCE_MS, signal, ...init }: RequestInit & { patience?: number },
): Promise<Response> {
  const limit = AbortSignal.timeout(patience);
  const response = await fetch(address, {
    ...init,
    cache: "no-store",
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  // What the worker answers in its place says that the box didn't.
  if (response.headers.has("x-held")) return response;
  heardTime(response);
  boxAnswered();
  const title = response.headers.get("x-title");
  if (title !== null) document.title = decodeURIComponent(title);
  if (title !== null) showBadge();
  return response;
}

/** The change after which an answer was drawn; null where it doesn't say. */
export const drawnAfterIn = ({ headers }: Response): string | null => headers.get("x-since");

/** Whether it holds sections or a page. */
export const isMarkup = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/html") === true;

/** A line at the end of a section, with one thing to do; the next drawing of the section takes it away. */
export function noteIn(id: string, text: string, word: string, act: () => void): void {
  const section = document.getElementById(id);
  if (section === null) return;
  section.querySelector(":scope > .changed")?.remove();
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button plain";
  button.textContent = word;
  button.addEventListener("click", act);
  const line = document.createElement("p");
  line.className = "changed";
  line.setAttribute("role", "status");
  line.append(`${text} · `, button);
  section.append(line);
}
