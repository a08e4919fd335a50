import type { ServiceError } from "../kit/errors.ts";
import { html } from "../kit/html.ts";
import { pageHeaders } from "./answer.ts";
import { brand } from "./drawings.ts";
import { framed, HTML_TYPE } from "./frame.ts";
import { PAGE_STYLE } from "./style.ts";

const HEADERS = pageHeaders({ type: HTML_TYPE, storing: "no-store", style: PAGE_STYLE });

const TITLES: Readonly<Record<number, string>> = {
  403: "Not yours to see or do",
  404: "There is nothing here",
  409: "It stands in the way",
  413: "That is too much",
  429: "Too much at once",
};

/** What a page of this status is called. */
export const refusedTitle = (status: number): string => TITLES[status] ?? "That didn't work";

/** What a browser is shown where nothing of the box is sure to work: no account and no store is asked. `isForm`: a form was sent. */
export function refusedPage(
  { status, message, retryAfter }: ServiceError,
  { requestId, isForm }: { requestId: string; isForm: boolean },
): { headers: Record<string, string>; body: string } {
  const title = refusedTitle(status);
  const wait = retryAfter === undefined ? "" : ` Wait ${retryAfter} s.`;
  return {
    headers: HEADERS,
    body: framed({
      title,
      style: PAGE_STYLE,
      main: html`<p class="brand">${brand}</p>
<h1>${title}</h1>
<p class="lead">${message}${wait}</p>
<p>${isForm ? `${status < 500 ? "Nothing was changed. " : ""}Go back in your browser: what you typed is most likely still there.` : html`<a href="">Try again</a>`}</p>
<p class="small">Request ${requestId}</p>`,
    }),
  };
}
