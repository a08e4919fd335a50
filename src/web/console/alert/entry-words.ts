import { historyWords, type Said, type Sentence } from "../../../core/alerts/history-words.ts";
import type { TimelineEntry } from "../../../core/alerts/timeline.ts";
import { html, type Markup, type Piece, trusted } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { clockTime, span } from "../ui/times.ts";

/** What an entry's words need beside it. */
export interface EntryAbout {
  call: Pick<PageCall, "now" | "look" | "base">;
  nameOf(account: string): string;
}

/** What happened, as it stands in a page. */
export function entryWords(entry: TimelineEntry, { call, nameOf }: EntryAbout): Markup {
  return drawn(historyWords(entry, nameOf), call);
}

const drawn = (sentence: Sentence, call: EntryAbout["call"]): Markup =>
  html`${sentence.map((said) => draw(said, call))}`;

function draw(said: Said, call: EntryAbout["call"]): Piece {
  if ("words" in said) return trusted(said.words);
  if ("strong" in said) return html`<strong>${said.strong}</strong>`;
  if ("wrong" in said) return html`<span class="wrong">${drawn(said.wrong, call)}</span>`;
  if ("time" in said) return clockTime(call, said.time);
  if ("span" in said) return span(said.span);
  if ("value" in said) return said.value;
  return html`<a href="${call.base}/a/${encodeURIComponent(said.alert)}">#${said.alert}</a>`;
}
