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
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Form, PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { snippets } from "../ui/snippets.ts";
import { clockTime } from "../ui/times.ts";
import { FIRST, type FirstSteps, firstStepsOf } from "./first-steps.ts";
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

export const eventForms: Readonly<Record<string, Form>> = {
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
