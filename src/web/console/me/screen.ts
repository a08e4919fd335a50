import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { changeAccount, getAccount, setTimezone } from "../../../people/accounts.ts";
import { changePassword } from "../../../people/passwords.ts";
import { tenantZone } from "../../../people/reader-clock.ts";
import { clockChange } from "../../../records/numbers/settings.ts";
import { lookCookie } from "../cookies.ts";
import type { PageCall, Screen } from "../screen.ts";
import { awayForms, awaySection } from "../ui/away.ts";
import { button, field, select } from "../ui/form.ts";
import { notifyForms, notifySection } from "./notify.ts";
import { meTabs } from "./tabs.ts";

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
