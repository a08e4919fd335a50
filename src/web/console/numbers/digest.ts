import { listIntegrations } from "../../../core/projects/integrations.ts";
import { findProject, listProjects } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { tenantZone } from "../../../people/reader-clock.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import {
  canHoldDigest,
  type DigestAnswer,
  digestWrite,
  hasWords,
  readDigest,
  writeDigest,
} from "../../../records/numbers/digest.ts";
import type { Form, PageCall } from "../screen.ts";
import { type Choice, field, select } from "../ui/form.ts";
import { everybody } from "../ui/people-names.ts";
import { ago, timeOnClock } from "../ui/times.ts";

const AT = "/numbers/digest";
const SEND = "/numbers/send";
/** Projects and people whose channels and contacts are offered. */
const MOST = 200;

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** The weekly message about all this: a manager's to say. */
export function digestSection(call: PageCall): Markup {
  if (!isManager(call.who.role)) return html``;
  const digest = readDigest(call.tenant.store, call.now);
  const { to, weekday, hour, enabled } = digest;
  const value =
    to === null ? "" : "contact" in to ? `contact:${to.contact}` : `integration:${to.integration}`;
  const days = WEEKDAYS.map((name, i) => ({ value: `${i + 1}`, name }));
  const none = { value: "", name: "nobody" };
  return html`<details id="numbers-digest"><summary>Weekly message</summary>
<p>${stateOf(call, digest)}</p>
<form class="form" method="post" action="${call.base}${AT}">
${select(call, AT, { name: "to", label: "Send the week’s figures to", value: enabled ? value : "", choices: [none, ...targets(call)] })}
${select(call, AT, { name: "weekday", label: "On", value: `${weekday}`, choices: days })}
${field(call, AT, { name: "hour", label: "At the hour", type: "number", value: `${hour}`, required: true, hint: `On the box’s clock, ${tenantZone(call.tenant.store)}.`, more: html`max="23"` })}
<p class="form-foot"><button class="button second">Save the weekly message</button></p></form>${
    enabled &&
    html`
<form method="post" action="${call.base}${SEND}"><p class="form-foot"><button class="button second">Send last week’s now</button></p></form>`
  }</details>`;
}

function stateOf(call: PageCall, { next, sent_at, error }: DigestAnswer): Markup {
  if (next === null)
    return html`Once a week, in a room or by a contact: the week against the four before, the noisiest rules, what to change, and who is on call next.`;
  return html`Next: ${timeOnClock(call, next)}.${sent_at !== null && html` The last one was accepted ${ago(call, sent_at)}.`}${error !== null && html` <span class="warn">The latest attempt failed: ${error}.</span>`}`;
}

function targets({ tenant: { store } }: PageCall): Choice[] {
  const { projects } = listProjects(store, { after: "", limit: MOST });
  const whole = projects.flatMap(({ name }) => findProject(store, name) ?? []);
  const rooms = whole.flatMap((project) =>
    listIntegrations(store, project)
      .filter((one) => hasWords(one))
      .map(({ id, name, type }) => ({
        value: `integration:${id}`,
        name: `${project.name}: ${name || type} (${type})`,
      })),
  );
  const people = everybody(store)
    .slice(0, MOST)
    .flatMap(({ id: account, name }) =>
      listContacts(store, account)
        .filter(
          ({ kind, state }) => canHoldDigest(kind) && state !== "unverified" && state !== "off",
        )
        .map(({ id, kind, address }) => ({
          value: `contact:${id}`,
          name: `${name}: ${kind} ${address}`,
        })),
    );
  return [...rooms, ...people];
}

export const digestForm: Form = {
  verb: "changeDigest",
  act({ tenant, who }, form) {
    mustManage(who.role);
    const [, kind = "", id = ""] = /^(contact|integration):(.+)$/.exec(form.get("to") ?? "") ?? [];
    const wanted = check(
      digestWrite,
      {
        enabled: id !== "",
        to: id === "" ? null : { [kind]: id },
        weekday: Number(form.get("weekday")),
        hour: Number(form.get("hour")),
      },
      "body",
    );
    const { enabled } = tenant.store.write((tx) => writeDigest(tx, wanted));
    return { said: enabled ? "The weekly message is on." : "The weekly message is off." };
  },
};

export const digestSendForm: Form = {
  verb: "sendDigest",
  auditAlways: true,
  async act({ tenant, who }) {
    mustManage(who.role);
    const { ok, error } = await tenant.sendDigest();
    return {
      said: ok ? "Last week’s message was accepted." : `The service did not accept it: ${error}.`,
    };
  },
};
