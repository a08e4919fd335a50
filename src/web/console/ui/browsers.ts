import { listProjects } from "../../../core/projects/projects.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { Subscription } from "../../../out/contacts/subscription.ts";
import { isRetired, lostDevices, pushKeyNow } from "../../../out/contacts/subscriptions.ts";
import { readSubscriptions } from "../../../tenant/push-verbs.ts";
import { isSafe } from "../bar.ts";
import type { PageCall } from "../screen.ts";
import { button, field, select, tick } from "./form.ts";
import { ago, clockTime, span } from "./times.ts";

/** Where the forms of one's own browsers are, whatever page they stand on. */
export const BROWSERS = "/me/devices";

const WEEK = 7 * 86_400;
/** Projects that a device's form offers. */
const MOST_PROJECTS = 30;

/** Browsers that the box pushes to, each with what it last showed, and how to add this one. */
export function browserList(call: PageCall): Markup {
  const all = readSubscriptions(call.tenant, call.who.accountId);
  return html`<h2>My devices</h2>
${added(call)}${all.length > 0 && html`<ul class="who">${all.map((one) => row(call, one))}</ul>`}
${addBrowser(call)}`;
}

/** Said where it is added, and to the script: the worker learns which of them this browser is. */
export function added({ shown }: PageCall): Piece {
  const { device } = shown;
  return (
    device !== undefined &&
    html`<p class="notice notice-good" data-device="${device}">This browser is added. <em>Ring it</em> shows whether it rings.</p>`
  );
}

/** By hand over https; over http what is needed for it. `first`: it is what the page begins with. */
export function addBrowser(
  call: PageCall,
  { first = false, kind = "" }: { first?: boolean; kind?: "" | "second" } = {},
): Markup {
  const { base, origin, tenant, who } = call;
  if (!isSafe(origin))
    return html`<p class="soft">Notifications in a browser need https, and this address is http. Give the box a certificate, put a proxy in front of it, or use its name in a tailnet. Then open this page there.</p>`;
  const key = pushKeyNow(tenant.store, tenant) ?? "";
  // Its browser may still hold what its service gave up: it has to subscribe anew.
  const isAnyLost = lostDevices(tenant.store, tenant, who.accountId).length > 0;
  const fields = ["endpoint", "p256dh", "auth", "label", "timezone", "server_key"];
  return html`<form class="form" method="post" action="${base}${BROWSERS}/browser" id="add-browser"${isAnyLost && html` data-anew`} data-server-key="${key}" data-key-from="${base}${BROWSERS}/key">
${fields.map((name) => html`<input type="hidden" name="${name}">`)}
<p class="form-foot"><button class="button ${kind}" data-busy="Asking …"${first && html` autofocus`}>Add this browser</button></p>
<p class="hint">It asks for your permission to show notifications. On an iPhone or iPad: Share, <em>Add to Home Screen</em>, and then from there.</p>
<p class="noscript">This needs scripts, and scripts are off in this browser.</p>
<p data-browser-said role="status"></p></form>`;
}

function row(call: PageCall, device: Subscription): Markup {
  const { id, label, host, lock_screen } = device;
  const at = `${BROWSERS}/${id}`;
  const { dot, words, isWrong } = standing(call, device);
  const name = label === "" ? host : label;
  return html`<li class="who-item" id="device-${id}" data-shown="${device.shown_at ?? 0}"><span class="dot dot-${dot}" aria-hidden="true"></span>
<div><p><strong>${name}</strong> <span class="soft">web push · ${host}</span></p>
<p class="${isWrong ? "wrong" : "soft"}">${words}</p>
<p class="soft">${wishWords(device)}${lock_screen === "place" && " · its lock screen shows only where something is"}</p>
<div class="buttons">${device.state !== "off" && button(call, { action: `${at}/ring`, name: "Ring it", kind: "second", label: `Ring it: ${name}` })}${button(call, { action: `${at}/delete`, name: "Remove", kind: "plain", label: `Remove ${name}` })}</div>
${chain(call, device)}
<details id="wants-${id}"${call.returned?.action === `${at}/change` && html` open`}><summary>What it is pushed</summary>${wishForm(call, device)}</details></div></li>
`;
}

interface Standing {
  dot: "shown" | "accepted" | "none";
  words: Markup;
  isWrong?: true;
}

/** That it was shown is the only proof; what its service took says nothing. */
function standing(call: PageCall, device: Subscription): Standing {
  const { state, renew, last_error, shown_at, shown_after, accepted_at } = device;
  const wrong = (words: Markup): Standing => ({ dot: "none", words, isWrong: true });
  if (renew)
    return wrong(html`The box has another key by now: open this page there and add it again.`);
  if (isRetired(device))
    return wrong(html`Its browser gave it up: add it again there, or remove it.`);
  if (state === "off") return { dot: "none", words: html`switched off: never used` };
  if (last_error !== null && (accepted_at ?? 0) <= (shown_at ?? 0))
    return wrong(html`Not accepted: ${last_error}. The box keeps trying.`);
  const last =
    shown_at === null ? html`never confirmed` : html`last confirmed ${ago(call, shown_at)}`;
  // It may be shown some seconds after it was taken.
  if (accepted_at !== null && accepted_at > (shown_at ?? 0))
    return {
      dot: shown_at !== null && call.now - shown_at <= WEEK ? "shown" : "accepted",
      words: html`accepted ${clockTime(call, accepted_at)}, not confirmed; ${last}`,
    };
  if (shown_at === null) return { dot: "accepted", words: html`never confirmed: ring it` };
  return {
    dot: call.now - shown_at <= WEEK ? "shown" : "accepted",
    words: html`shown ${ago(call, shown_at)}${shown_after !== null && ` (${span(shown_after)})`}`,
  };
}

function wishWords({ wants }: Subscription): string {
  const words = wants.map((wish) =>
    wish === "pages"
      ? "pages for me"
      : wish === "shift"
        ? "my shift’s start"
        : `every alert of ${wish.slice("all:".length)} that pages nobody`,
  );
  return words.length === 0 ? "nothing is pushed to it" : words.join(", ");
}

/** What stands between *Ring it* and a phone that rings, link by link, with what is known of each. */
function chain(call: PageCall, { id, host, accepted_at, last_error }: Subscription): Markup {
  const answer =
    last_error !== null
      ? html`${host} refused: ${last_error}.`
      : accepted_at === null
        ? html`nothing was sent to ${host} yet.`
        : html`${host} took the last one at ${clockTime(call, accepted_at)}.`;
  return html`<details id="chain-${id}"><summary>Nothing was shown?</summary><ol>
<li><strong>Permission:</strong> <span data-permission>notifications of this site must be allowed in that browser, and in the phone’s own settings for the browser.</span></li>
<li><strong>Battery saver:</strong> a phone that saves power stops browsers in the background. Leave the browser out of it: Settings, Apps, the browser, Battery, Unrestricted.</li>
<li><strong>Focus mode:</strong> with Do not disturb it is shown without a sound. Allow the browser in it.</li>
<li><strong>The push service’s answer:</strong> ${answer}</li>
<li><strong>This network:</strong> what was shown is said to ${call.origin}. A phone that can’t reach that address rings, and isn’t confirmed: open this page on it.</li>
</ol></details>`;
}

function wishForm(call: PageCall, device: Subscription): Markup {
  const { id, label, wants, lock_screen } = device;
  const action = `${BROWSERS}/${id}/change`;
  const { projects } = listProjects(call.tenant.store, { after: "", limit: MOST_PROJECTS });
  const wish = (value: string, name: string) =>
    tick(call, action, { name: "wants", value, words: name, usual: wants.includes(value) });
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "label", label: "Called", value: label })}
<fieldset><legend>It is pushed</legend>${wish("pages", "Pages for me")}
${wish("shift", "My shift’s start")}
${projects.map(({ name }) => wish(`all:${name}`, `Every alert of ${name} that pages nobody`))}</fieldset>
${select(call, action, {
  name: "lock_screen",
  label: "Its lock screen shows",
  value: lock_screen,
  choices: [
    { value: "all", name: "all of it" },
    { value: "place", name: "only where: “Alert in payments”" },
  ],
})}
<p class="form-foot"><button class="button second">Save</button></p></form>`;
}
