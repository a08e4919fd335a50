import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type NotifyRule, notifyBody } from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { readNotify, writeNotify } from "../../../out/contacts/notify.ts";
import { contactKindList } from "../../../out/services/list.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import type { Form, PageCall } from "../screen.ts";
import { facesOf } from "../ui/faces.ts";
import { button, select } from "../ui/form.ts";

/** Which of one's contacts is used when: a line for each, as a form that works without script. */

const ACTION = "/me/notify";
const NEVER = "never";

const WHEN = [
  { value: "0", name: "at once" },
  { value: "60", name: "after 1 min" },
  { value: "120", name: "after 2 min" },
  { value: "300", name: "after 5 min" },
  { value: "600", name: "after 10 min" },
  { value: "1800", name: "after 30 min" },
  { value: NEVER, name: "never" },
];

const LEVELS = [
  { value: "0", name: "every page" },
  { value: "400", name: "errors and worse" },
  { value: "500", name: "critical alone" },
];

const verified = ({ tenant, who }: PageCall) =>
  listContacts(tenant.store, who.accountId).filter(({ state }) => state === "verified");

export async function notifySection(call: PageCall): Promise<Markup> {
  const { tenant, who, base } = call;
  const rules = readNotify(tenant.store, who.accountId);
  const own = verified(call);
  const devices = html`<p><a href="${base}/me/devices">What rings for me</a></p>`;
  const isReached = (await facesOf(call, who.accountId))(who.accountId).proof !== "none";
  const usual = !isReached
    ? html`<p class="wrong">Nothing reaches you: you would not be rung.</p>`
    : rules.length === 0 && html`<p>All verified ways at once, calls after two minutes.</p>`;
  if (own.length === 0) return html`<h2>When I am paged</h2>${usual}${devices}`;
  const named = rules.flatMap(({ contacts }) => contacts);
  if (new Set(named).size < named.length)
    return html`<h2>When I am paged</h2><p>By your own rules, which use a contact more than once: <code>box notify show</code> prints them.</p>${usualButton(call)}${devices}`;
  return html`<h2>When I am paged</h2>${usual}
<form class="form" method="post" action="${base}${ACTION}">${own.map(({ id, kind, label }) => {
    const rule = rules.find(({ contacts }) => contacts.includes(id));
    const name = label === "" ? serviceName(kind) : `${label} (${serviceName(kind)})`;
    const rest = String(contactKindList.find(kind)?.restSeconds ?? 0);
    const unruled = rules.length === 0 ? rest : NEVER;
    return html`<fieldset class="field"><legend>${name}</legend><div class="rule-row">${select(call, ACTION, { name: `after-${id}`, label: "When", value: rule === undefined ? unruled : String(rule.after_seconds), choices: WHEN })}${select(call, ACTION, { name: `level-${id}`, label: "For", value: String(rule?.min_level ?? 0), choices: LEVELS })}</div></fieldset>`;
  })}
<p class="form-foot"><button class="button second">Save when I am paged</button></p></form>${rules.length > 0 && usualButton(call)}${devices}`;
}

const usualButton = (call: PageCall): Markup =>
  html`<div class="buttons">${button(call, { action: `${ACTION}/usual`, name: "As usual: all at once, calls after two minutes", kind: "second" })}</div>`;

const target = "account";

export const notifyForms: Readonly<Record<string, Form>> = {
  notify: {
    verb: "putNotificationRules",
    target,
    act(call, form) {
      const { tenant, who } = call;
      const rules = new Map<string, NotifyRule>();
      for (const { id } of verified(call)) {
        const after = form.get(`after-${id}`) ?? NEVER;
        if (after === NEVER) continue;
        const level = form.get(`level-${id}`) ?? "0";
        const at = `${after} ${level}`;
        const rule = { after_seconds: Number(after), min_level: Number(level), contacts: [id] };
        const same = rules.get(at);
        if (same === undefined) rules.set(at, rule);
        else same.contacts.push(id);
      }
      // None would mean all of them.
      if (rules.size === 0)
        throw invalid([{ field: "/rules", reason: "must leave one way that pages you" }]);
      const inOrder = [...rules.values()].sort((a, b) => a.after_seconds - b.after_seconds);
      const body = check(notifyBody, { rules: inOrder }, "body");
      tenant.store.write((tx) => writeNotify(tx, who.accountId, body.rules));
      return { said: "From now on you are paged so.", to: "/me" };
    },
  },
  "notify/usual": {
    verb: "putNotificationRules",
    target,
    act({ tenant, who }) {
      tenant.store.write((tx) => writeNotify(tx, who.accountId, []));
      return { said: "All verified ways at once, calls after two minutes.", to: "/me" };
    },
  },
};
