import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { relyingParty } from "../../../people/relying-party.ts";
import type { PageCall, Screen, Section } from "../screen.ts";
import { button } from "../ui/form.ts";
import { clockTime } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import { eventForms, eventHeard, eventSnippets } from "./event-card.ts";
import { type FirstSteps, firstStepsOf, wayName } from "./first-steps.ts";
import { head, phoneCard, phoneForms } from "./phone-card.ts";

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
        on: () => goOn(call),
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

/** From the event to the answer, link by link; where it stands, that is said. */
function pagedCard(call: PageCall, { alert, ...steps }: FirstSteps): Markup {
  if (alert === null)
    return html`${head(3, "Be paged by it", false)}<p class="soft">The event above opens an alert, and the alert pages you.</p>`;
  const { id, state, opened_at, acked_at, acked_by } = alert;
  const mine = readReach(call.tenant.store, id, call.now).filter(
    ({ account_id }) => account_id === call.who.accountId,
  );
  const taken = mine.find(({ at, reason }) => at !== null && reason !== "failed");
  const isDone = state !== "open";
  return html`${head(3, "Be paged by it", isDone)}
<ol class="steps">
<li>✓ ${clockTime(call, opened_at)} the event opened alert <a href="${call.base}/a/${id}">#${id}</a></li>
<li>${taken === undefined ? html`○ ${standing(mine, steps)}` : html`✓ ${clockTime(call, taken.at ?? opened_at)} ${wayName(taken.via ?? "a channel")} took your page`}</li>
<li>${isDone ? html`✓ ${acked_at === null ? "" : clockTime(call, acked_at)} ${whoHas(call, acked_by)}` : "○ press Acknowledge on the phone, or here"}</li>
</ol>
${state === "open" && button(call, { action: `/a/${id}/ack`, name: "Acknowledge", key: "a" })}`;
}

function whoHas({ who }: PageCall, ackedBy: string | null): string {
  if (ackedBy === null) return "it is over";
  return ackedBy === who.accountId ? "you have it" : "somebody else has it";
}

/** At which link it stands, and what to do. */
function standing(
  mine: readonly ReachEntry[],
  { rings, browser, waiting }: Omit<FirstSteps, "alert">,
): string {
  const [first] = mine;
  if (rings === null && waiting !== null)
    return `${wayName(waiting.kind, waiting.label)} isn't confirmed yet: type its six digits in the first card`;
  if (rings === null && browser === null)
    return "nothing rings for you yet: the first card makes a phone ring";
  if (first === undefined) return "the alert's ladder doesn't name you";
  if (first.reason === "failed")
    return `your page was refused: ${first.error ?? "no reason was given"}`;
  if (first.reason === "delayed")
    return `your page waits${first.error === null ? "" : `: ${first.error}`}`;
  return "your page is on its way";
}
