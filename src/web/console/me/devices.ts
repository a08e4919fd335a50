import { html, type Markup } from "../../../ground/kit/html.ts";
import { openGateway } from "../../../out/contacts/gateways.ts";
import type { PageCall, Screen } from "../screen.ts";
import { qrCode } from "../ui/qr.ts";
import { browserForms } from "./browser-forms.ts";
import { BROWSERS as AT, browserList } from "./browsers.ts";
import { contactForms } from "./contact-forms.ts";
import { addContactForm, contactRows } from "./contact-list.ts";
import { meTabs } from "./tabs.ts";

/** What reaches whoever is signed in: each way with its state, a test, and how to add one. */
export const devicesScreen: Screen = {
  path: AT,
  view(call) {
    const of = { account: call.who.accountId, at: AT, but: "web_push" };
    return {
      title: "What rings for me",
      nav: "me",
      script: "devices",
      sections: {
        tabs: { watches: [], draw: () => meTabs(call, AT) },
        browsers: { watches: ["people", "projects"], draw: () => browserList(call) },
        contacts: {
          watches: ["people"],
          draw: () => html`${newTopic(call)}${contactRows(call, of)}`,
        },
        add: { watches: [], draw: () => html`<h2>Add a way</h2>${addContactForm(call, of)}` },
      },
    };
  },
  forms: { ...contactForms(({ who }) => who.accountId), ...browserForms },
};

/** Where ntfy's topics are, without a slash at the end. */
export function ntfyServer({ tenant }: PageCall): string {
  const { url = "" } = openGateway(tenant.store, tenant.sealer, "ntfy") ?? {};
  return (url || "https://ntfy.sh").replace(/\/+$/, "");
}

/** A topic that was just made: how a phone gets it. */
export function newTopic(call: PageCall, topic = call.shown["topic"]): Markup | false {
  if (topic === undefined) return false;
  const url = `${ntfyServer(call)}/${topic}`;
  return html`<div class="notice"><p>Install the ntfy app on your phone, scan this and subscribe; or enter the topic by hand. Whoever knows the topic reads along.</p>
${qrCode(url, `The topic ${topic}`)}
<p><code id="topic">${topic}</code> on <code>${new URL(url).host}</code></p></div>`;
}
