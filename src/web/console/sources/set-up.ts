import { EVENTS } from "../../../core/projects/sources.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { SetUp } from "../../../in/adapters/adapter.ts";
import type { PageCall } from "../screen.ts";
import { snippets } from "../ui/snippets.ts";

/** What a form hands to the page that it is shown on, this once. */
export function shownSetUp(
  source: { name: string; kind: string },
  token: string,
  { where, paste, notes }: SetUp,
): Record<string, string> {
  const { name, kind } = source;
  return { source: name, kind, token, where, paste, notes: notes.join("\n") };
}

/** A new token, with what to paste where; nothing but this once. */
export function setUpNotice(call: PageCall): Markup {
  const { source, kind, token, where, paste, notes } = call.shown;
  if (token === undefined) return html``;
  const copy = (id: string) =>
    html`<button type="button" class="button second" data-copy="${id}">Copy</button>`;
  return html`<div class="notice notice-warn"><h2>Source ${source}</h2>
<p>The token is shown once, now. Store it: nobody can read it again, only replace it.</p>
<div class="snippet"><pre class="code wrap" id="token">${token}</pre>${copy("token")}</div>
${
  kind === EVENTS
    ? snippets(call, token)
    : html`<p>To paste: ${where}</p><div class="snippet"><pre class="code" id="paste" tabindex="0">${paste}</pre>${copy("paste")}</div>`
}
${
  notes !== undefined &&
  notes !== "" &&
  html`<ul>${notes.split("\n").map((note) => html`<li>${note}</li>`)}</ul>`
}</div>`;
}
