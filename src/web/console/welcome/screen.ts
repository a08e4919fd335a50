import { html } from "../../../ground/kit/html.ts";
import { relyingParty } from "../../../people/relying-party.ts";
import type { PageCall, Screen, Section } from "../screen.ts";
import { remedy } from "../ui/way.ts";
import { eventHeard, eventSnippets } from "./event-card.ts";
import { eventForms } from "./event-forms.ts";
import { firstStepsOf } from "./first-steps.ts";
import { pagedCard } from "./paged-card.ts";
import { phoneCard, phoneForms } from "./phone-card.ts";

const card = { attributes: html`class="card step"` };

/** The first steps: a phone that rings, an event, and a page that is answered. Each turns green by itself. */
export const welcomeScreen: Screen = {
  path: "/welcome",
  view(call) {
    const { isFurnished } = firstStepsOf(call);
    return {
      title: "First steps",
      heading: isFurnished ? html`Make your phone ring` : html`Three things, 3 minutes`,
      nav: "none",
      script: "devices",
      sections: {
        phone: { ...card, watches: ["people"], draw: () => phoneCard(call, firstStepsOf(call)) },
        ...(isFurnished ? {} : eventSections(call)),
        on: { watches: [], draw: () => goOn(call) },
      },
    };
  },
  forms: { ...phoneForms, ...eventForms },
};

/** Of a box that nobody has set up yet. */
function eventSections(call: PageCall): Record<string, Section> {
  return {
    event: {
      ...card,
      watches: ["alerts", "projects"],
      draw: () => eventSnippets(call, firstStepsOf(call)),
    },
    heard: {
      ...card,
      watches: ["alerts", "projects"],
      draw: () => eventHeard(call, firstStepsOf(call)),
    },
    paged: { ...card, watches: ["alerts"], draw: () => pagedCard(call, firstStepsOf(call)) },
  };
}

function goOn(call: PageCall) {
  const { base } = call;
  // Where there can be none nothing is said: nobody asked.
  const hasPasskeys = typeof relyingParty(call.origin) !== "string";
  return html`<p class="buttons"><a class="button second" href="${base}/alerts">Skip, I’ll come back</a>
<a href="${base}/people">Invite somebody</a> ${hasPasskeys && html`<a href="${base}/me/passkeys">Add a passkey</a> `}${remedy(call, "/p", "Your projects")}</p>`;
}
