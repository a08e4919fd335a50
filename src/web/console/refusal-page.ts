import type { ServiceError } from "../../ground/kit/errors.ts";
import { html, type Markup } from "../../ground/kit/html.ts";
import { refusedTitle } from "../../ground/page/refused-page.ts";

/** A page in the usual frame for what can't be shown. */
export function refusalPage(
  error: ServiceError,
  requestId: string,
  base: string,
): { title: string; nav: "none"; heading: Markup; main: Markup } {
  const title = refusedTitle(error.status);
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
