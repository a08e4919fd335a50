import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type NotifyRule, notifyBody } from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { readNotify, writeNotify } from "../../../out/contacts/notify.ts";
import { contactKindList } from "../../../out/services/list.ts";
import { serviceName } from "../../../out/services/service-names.ts";
import { changeAccount, getAccount, setTimezone } from "../../../people/accounts.ts";
import { changePassword } from "../../../people/passwords.ts";
import { tenantZone } from "../../../people/reader-clock.ts";
import { clockChange } from "../../../records/numbers/settings.ts";
import { lookCookie } from "../cookies.ts";
import type { Form, PageCall, Screen } from "../screen.ts";
import { awayForms, awaySection } from "../ui/away.ts";
import { facesOf } from "../ui/faces.ts";
import { button, field, select } from "../ui/form.ts";
import { meTabs } from "./tabs.ts";

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

/** Which of one's contacts is used when: a line for each, as a form that works without script. */
async function notifySection(call: PageCall): Promise<Markup> {
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

const notifyForms: Readonly<Record<string, Form>> = {
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

const AT = "/me";

/** Whoever is signed in: their name, password, and how their pages look. */
export const meScreen: Screen = {
  path: AT,
  view: (call) => ({
    title: "Me",
    nav: "me",
    sections: {
      tabs: () => meTabs(call, AT),
      name: { watches: ["people"], draw: () => nameSection(call) },
      clock: { watches: ["people"], draw: () => clockSection(call) },
      notify: { watches: ["people"], draw: () => notifySection(call) },
      away: {
        watches: ["people"],
        draw: () => awaySection(call, { account: call.who.accountId, at: AT }),
      },
      password: () => passwordSection(call),
      look: () => lookSection(call),
      out: () => button(call, { action: "/signout", name: "Sign out", kind: "second" }),
    },
  }),
  forms: {
    ...awayForms(({ who }) => who.accountId),
    ...notifyForms,
    name: {
      verb: "changeAccount",
      act({ tenant, who }, form) {
        const displayName = (form.get("display_name") ?? "").trim();
        if (displayName === "" || [...displayName].length > 128)
          throw invalid([{ field: "/display_name", reason: "must have 1 to 128 characters" }]);
        tenant.store.write((tx) => changeAccount(tx, null, { id: who.accountId, displayName }));
        return { said: `Your name is ${displayName} now.` };
      },
    },
    clock: {
      verb: "changeMe",
      target: "account",
      act({ tenant, who, secure }, form) {
        const { timezone } = check(clockChange, { timezone: form.get("timezone") || null }, "body");
        tenant.store.write((tx) => setTimezone(tx, who.accountId, timezone));
        return {
          said:
            timezone === null
              ? "Your nights and messages go by the box’s clock, pages by the browser’s."
              : `Your nights, messages and pages go by the clock of ${timezone}.`,
          cookies: [lookCookie("zone", timezone ?? "", secure)],
        };
      },
    },
    password: {
      verb: "changePassword",
      target: "account",
      async act({ tenant, who }, form) {
        const fresh = form.get("new") ?? "";
        if ([...fresh].length < 8 || Buffer.byteLength(fresh) > 72)
          throw invalid([{ field: "/new", reason: "must have 8 to 72 characters" }]);
        await changePassword(tenant, {
          accountId: who.accountId,
          kept: who.sessionId,
          old: form.get("old") ?? "",
          new: fresh,
        });
        return { said: "Your password is changed. Your other browsers are signed out." };
      },
    },
    look: {
      verb: "changeLook",
      reads: true,
      act(call, form) {
        const set = (name: string) => lookCookie(name, form.get(name) ?? "", call.secure);
        return {
          said: "Saved in this browser.",
          to: AT,
          cookies: ["theme", "rows", "keys"].map(set),
        };
      },
    },
  },
};

function nameSection(call: PageCall): Markup {
  const { who, base } = call;
  return html`<h2>Name</h2><p class="soft">${who.email}, ${who.role}</p>
<form class="form" method="post" action="${base}${AT}/name">
${field(call, `${AT}/name`, { name: "display_name", label: "As others see it", value: who.name, required: true, autocomplete: "name" })}
<p class="form-foot"><button class="button second">Save the name</button></p></form>`;
}

/** The clock of messages and nights, and of pages in the browser where it is chosen: else those have the browser's own. */
function clockSection(call: PageCall): Markup {
  const action = `${AT}/clock`;
  const { timezone } = getAccount(call.tenant.store, call.who.accountId);
  return html`<h2>My clock</h2>
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "timezone", label: "Time zone", value: timezone ?? "", hint: `Like Europe/Vienna. Messages to you and the pages of this browser show times in it, and your nights are counted by it. Empty: the box's own, ${tenantZone(call.tenant.store)}; pages have the browser's.` })}
<p class="form-foot"><button class="button second">Save the time zone</button></p></form>`;
}

function passwordSection(call: PageCall): Markup {
  const action = `${AT}/password`;
  return html`<h2>Password</h2>
<form class="form" method="post" action="${call.base}${action}">
<input type="text" hidden readonly name="username" autocomplete="username" value="${call.who.email}">
${field(call, action, { name: "old", label: "Now", type: "password", required: true, autocomplete: "current-password" })}
${field(call, action, { name: "new", label: "New", type: "password", required: true, autocomplete: "new-password", hint: "At least 8 characters." })}
<p class="form-foot"><button class="button second">Change the password</button></p></form>`;
}

function lookSection(call: PageCall): Markup {
  const { look, base } = call;
  const action = `${AT}/look`;
  const choices = (...all: [value: string, name: string][]) =>
    all.map(([value, name]) => ({ value, name }));
  return html`<h2>How pages look here</h2>
<form class="form" method="post" action="${base}${action}">
${select(call, action, { name: "theme", label: "Colours", value: look.theme, choices: choices(["system", "as the system"], ["light", "light"], ["dark", "dark"]) })}
${select(call, action, { name: "rows", label: "Rows", value: look.rows, choices: choices(["comfortable", "comfortable"], ["compact", "compact"]) })}
${select(call, action, { name: "keys", label: "Single letters as keys", value: look.keys ? "on" : "off", choices: choices(["on", "on"], ["off", "off"]) })}
<p class="form-foot"><button class="button second">Save in this browser</button></p></form>`;
}
