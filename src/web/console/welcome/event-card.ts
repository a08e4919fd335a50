import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager } from "../../../people/roles.ts";
import type { PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { snippets } from "../ui/snippets.ts";
import { clockTime } from "../ui/times.ts";
import { FIRST, type FirstSteps } from "./first-steps.ts";
import { head } from "./phone-card.ts";

/** What to paste where events are: with the token, which is shown once. */
export function eventSnippets(call: PageCall, { source, alert, rings }: FirstSteps): Markup {
  const { token } = call.shown;
  // One filled button a page: of the step that is next.
  const kind = rings === null || alert !== null ? "second" : "";
  if (source === null)
    return html`${head(2, "Send your first event", false)}
<p>A project, a source with a token, and a rule that pages you for errors: all can be renamed later.</p>
${button(call, { action: "/welcome/start", name: "Start", kind })}`;
  return html`${head(2, "Send your first event", alert !== null)}
${
  token === undefined
    ? html`<p class="soft">The token of source ${FIRST.source} was shown once.</p>
<div class="buttons">${button(call, { action: "/welcome/send", name: "Send one for me", kind })}${button(
        call,
        {
          action: "/welcome/token",
          name: "Make a new token",
          kind: "second",
          ...(!isManager(call.who.role) && { why: "Only owners and admins rotate tokens." }),
        },
      )}</div>`
    : html`<p>Paste it on any machine that can reach this one. The token is shown only once.</p>
${snippets(call, token)}
${button(call, { action: "/welcome/send", name: "Or send one for me", kind: "second" })}`
}`;
}

/** What was heard, as soon as it was. */
export function eventHeard(call: PageCall, { source, alert }: FirstSteps): Markup {
  if (source === null) return html`<p class="soft">Then it is heard here.</p>`;
  if (alert === null)
    return html`<p>◌ listening … <a class="noscript" href="${call.base}/welcome">Look again</a></p>`;
  return html`<p class="good">✓ ${clockTime(call, alert.last_seen)} from ${alert.source ?? FIRST.source}: <span class="message">${alert.last_message}</span></p>`;
}
