import { html } from "../../../ground/kit/html.ts";
import type { Screen } from "../screen.ts";
import { BROWSERS as AT, browserList } from "../ui/browsers.ts";
import { contactForms } from "../ui/contact-forms.ts";
import { addContactForm, contactRows } from "../ui/contact-list.ts";
import { newTopic } from "../ui/qr.ts";
import { browserForms } from "./browser-forms.ts";
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
