import type { ServiceError } from "../../ground/kit/errors.ts";
import { html, type Markup } from "../../ground/kit/html.ts";

const TITLES: Readonly<Record<number, string>> = {
  403: "Not yours to see or do",
  404: "There is nothing here",
  409: "It stands in the way",
  413: "That is too much",
  429: "Too much at once",
};

/** A page in the usual frame for what can't be shown. */
export function refusalPage(
  error: ServiceError,
  requestId: string,
  base: string,
): { title: string; nav: "none"; heading: Markup; main: Markup } {
  const title = TITLES[error.status] ?? "That didn't work";
  return {
    title,
    nav: "none",
    heading: html`${title}`,
    main: html`<p>${error.message}</p>
${error.retryAfter !== undefined && html`<p>Try again in ${error.retryAfter} s.</p>`}
<p><a class="button second" href="${base}/alerts">To the alerts</a></p>
<p class="soft small">Request ${requestId}</p>`,
  };
}
