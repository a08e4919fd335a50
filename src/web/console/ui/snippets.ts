import { html, type Markup } from "../../../ground/kit/html.ts";
import { snippetsOf } from "../../../in/connect/snippets.ts";
import type { PageCall } from "../screen.ts";

/** What to paste where events are, the first of them open; with the token, which is shown once. */
export function snippets({ origin }: PageCall, token: string): Markup {
  return html`${snippetsOf({ base: origin, token }).map(
    (
      { id, name, where, text },
      at,
    ) => html`<details id="snippet-${id}"${at === 0 && html` open`}><summary>${name}, in ${where}</summary>
<div class="snippet"><pre class="code" id="${id}">${text}</pre><button type="button" class="button second" data-copy="${id}">Copy</button></div></details>
`,
  )}`;
}
