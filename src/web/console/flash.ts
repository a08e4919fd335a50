import { LRUCache } from "lru-cache";
import type { ServiceError } from "../../ground/kit/errors.ts";
import { html, type Markup } from "../../ground/kit/html.ts";
import type { FormDone } from "./screen.ts";

/** What was done, until the next page says so: by session, in memory alone. */
export type FlashMessages = ReturnType<typeof createFlashMessages>;

const MOST = 1000;
/** Seconds after which it is news no more. */
const SECONDS = 120;

export function createFlashMessages(now: () => number) {
  const all = new LRUCache<string, { done: FormDone; at: number }>({ max: MOST });
  const last = (sessionId: string): FormDone | null => {
    const found = all.get(sessionId);
    if (found !== undefined && now() - found.at < SECONDS) return found.done;
    all.delete(sessionId);
    return null;
  };
  const isFor = ({ shown, to }: FormDone, at: string) =>
    shown === undefined || to?.replace(/#.*/, "") === at;
  return {
    put: (sessionId: string, done: FormDone) => void all.set(sessionId, { done, at: now() }),
    /** Told once; what shows something waits for the page that it was meant for. */
    take(sessionId: string, at: string): FormDone | null {
      const done = last(sessionId);
      if (done === null || !isFor(done, at)) return null;
      all.delete(sessionId);
      return done;
    },
    /** What the page at this address is to show this once. */
    shownAt(sessionId: string, at: string): Readonly<Record<string, string>> {
      const done = last(sessionId);
      return done !== null && isFor(done, at) ? (done.shown ?? {}) : {};
    },
  };
}

/** The line that says what was done, with the way back; empty where nothing was. */
export function flashLine(
  done: Pick<FormDone, "said" | "undo"> | null,
  base: string,
  id = "said",
): Markup {
  const undo = done?.undo;
  return html`<output id="${id}" class="said" role="status" aria-live="polite">${
    done !== null && done.said !== "" && html`<span>${done.said}</span>`
  }${
    undo !== undefined &&
    html`<form method="post" action="${base}${undo.action}">${Object.entries(undo.fields ?? {}).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="second" data-key="u" aria-keyshortcuts="u" title="Undo (u)">Undo</button></form>`
  }</output>`;
}

/** Why a form wasn't taken: in a sentence; what is wrong with a field stands at the field too. */
export function refusedLine({ message }: Pick<ServiceError, "message">, id = "said"): Markup {
  return html`<output id="${id}" class="said wrong" role="alert"><span>Not done: ${message}</span></output>`;
}
