import type { ReachEntry } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { createRule } from "../../../core/alerts/rules.ts";
import { ladderInPassing } from "../../../core/projects/ladders.ts";
import {
  createProject,
  findProject,
  getProject,
  type Project,
} from "../../../core/projects/projects.ts";
import { ruleCreate } from "../../../core/projects/rule.ts";
import { createSource, rotateToken } from "../../../core/projects/sources.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Tx } from "../../../ground/store/store.ts";
import { relyingParty } from "../../../people/relying-party.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Form, PageCall, Screen, Section } from "../screen.ts";
import { button } from "../ui/form.ts";
import { snippets } from "../ui/snippets.ts";
import { clockTime } from "../ui/times.ts";
import { remedy } from "../ui/way.ts";
import { FIRST, type FirstSteps, firstStepsOf, wayName } from "./first-steps.ts";
import { head, phoneCard, phoneForms } from "./phone-card.ts";

/** What to paste where events are: with the token, which is shown once. */
function eventSnippets(call: PageCall, { source, alert, rings }: FirstSteps): Markup {
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
function eventHeard(call: PageCall, { source, alert }: FirstSteps): Markup {
  if (source === null) return html`<p class="soft">Its first event is shown here.</p>`;
  if (alert === null)
    return html`<p>◌ listening … <a class="noscript" href="${call.base}/welcome">Look again</a></p>`;
  return html`<p class="good">✓ ${clockTime(call, alert.last_seen)} from ${alert.source ?? FIRST.source}: <span class="message">${alert.last_message}</span></p>`;
}

/** Errors and worse, at once and again every five minutes until somebody has it, where the project says nothing else. */
function ruleFor(tx: Tx, project: Project, accountId: string) {
  const own = { accounts: [accountId], schedules: [], after_minutes: 0, repeat_minutes: 5 };
  return ruleCreate.parse({
    name: FIRST.rule,
    match: { min_level: 400 },
    ...ladderInPassing(tx, project, { steps: () => [own], for: accountId }),
  });
}

const target = `project:${FIRST.project}`;

const eventForms: Readonly<Record<string, Form>> = {
  start: {
    verb: "createProject",
    target,
    act({ tenant, who }) {
      const token = tenant.store.write((tx) => {
        if (findProject(tx, FIRST.project) === null) createProject(tx, FIRST.project);
        const project = getProject(tx, FIRST.project);
        const { name, ...body } = ruleFor(tx, project, who.accountId);
        const made = createSource(tx, project, {
          tenantId: tenant.id,
          name: FIRST.source,
          retainLogs: true,
        });
        createRule(tx, project, { name, body });
        return made.token;
      });
      return { said: "A project with a source, and a rule that pages you.", shown: { token } };
    },
  },
  token: {
    verb: "rotateSourceToken",
    target,
    act({ tenant, who }) {
      mustManage(who.role);
      const { token } = tenant.store.write((tx) =>
        rotateToken(tx, getProject(tx, FIRST.project), { tenantId: tenant.id, name: FIRST.source }),
      );
      return { said: "A new token. The old one no longer works.", shown: { token } };
    },
  },
  send: {
    verb: "sendTestEvent",
    target,
    auditAlways: true,
    async act(call) {
      const { source } = firstStepsOf(call);
      if (source === null) throw notFound("source");
      await sendEvent(call.tenant, source);
      return { said: "Sent, and on the disk." };
    },
  },
};

const EVENT = {
  message: "payment 4711 failed after 30 s at provider acme",
  level: 400,
  keys: null,
  tags: null,
};

/** As a sender would: it is answered after the commit. Throws what kept it from one. */
function sendEvent({ ingest }: Tenant, source: Parameters<Tenant["ingest"]["submit"]>[0]) {
  return new Promise<void>((resolve, reject) => {
    ingest.submit(source, [EVENT], (error) => (error ? reject(error) : resolve()));
  });
}

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
<li>${taken === undefined ? html`○ ${standing(mine, steps)}` : html`✓ ${clockTime(call, taken.at ?? opened_at)} ${wayName(taken.via ?? "a channel")} accepted your page`}</li>
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
