import { check } from "../../http/check.ts";
import { html, type Markup } from "../../kit/html.ts";
import { type Account, accountChange } from "../../people/account.ts";
import { changeAccount, getAccount, removeAccount } from "../../people/accounts.ts";
import { issueReset, pairLink } from "../../people/codes.ts";
import { rulesNaming, schedulesNaming } from "../../people/named-by.ts";
import { atLeast, isManager, roles } from "../../people/roles.ts";
import { contactForms } from "../me/contact-forms.ts";
import { addContactForm, contactRows } from "../me/contact-list.ts";
import { newTopic } from "../me/devices.ts";
import { passkeyForms, passkeyRows } from "../me/passkeys.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { button, field, select } from "../ui/form.ts";
import { way } from "../ui/way.ts";
import { managers } from "./people.ts";

const target = ({ account = "" }: PageCall["params"]) => ({ kind: "account", id: account });

const passkeysOf = Object.fromEntries(
  Object.entries(passkeyForms(({ params }) => params["account"] ?? "")).map(([at, form]) => [
    `passkeys/${at}`,
    form,
  ]),
);

/** One person: their role, what reaches them, what names them. */
export const personScreen: Screen = {
  path: "/people/{account}",
  view(call) {
    const account = getAccount(call.tenant.store, call.params["account"] ?? "");
    const at = pathOf("people", account.id);
    const mayGovern = isManager(call.who.role) && atLeast(call.who.role, account.role);
    const watches = ["people"];
    return {
      title: account.display_name || account.email,
      nav: "people",
      sections: {
        head: { watches, draw: () => html`<p class="soft">${account.email} · ${account.role}</p>` },
        ...(mayGovern || account.id === call.who.accountId
          ? {
              contacts: {
                watches,
                draw: () => html`<h2>What rings for them</h2>${newTopic(call)}${contactRows(call, { account: account.id, at })}
<details id="add-contact"><summary>Add a way</summary>${addContactForm(call, { account: account.id, at })}</details>`,
              },
            }
          : {}),
        ...(mayGovern && account.id !== call.who.accountId
          ? {
              passkeys: {
                watches,
                draw: () => passkeyRows(call, { account: account.id, at: `${at}/passkeys` }),
              },
            }
          : {}),
        named: { watches: [...watches, "projects"], draw: () => named(call, account) },
        change: { watches, draw: () => change(call, { account, at, mayGovern }) },
      },
    };
  },
  forms: {
    change: {
      verb: "changeAccount",
      target,
      act({ tenant, who, params }, form) {
        const { role, display_name: displayName } = check(
          accountChange,
          Object.fromEntries(
            [...form].filter(([name]) => name === "role" || name === "display_name"),
          ),
          "body",
        );
        const changed = tenant.store.write((tx) =>
          changeAccount(tx, who.accountId, { id: params["account"] ?? "", displayName, role }),
        );
        return { said: `${changed.display_name || changed.email} is ${changed.role}.` };
      },
    },
    reset: {
      verb: "resetPassword",
      target,
      act({ tenant, who, params }) {
        const { code } = tenant.store.write((tx) =>
          issueReset(tx, who.accountId, params["account"] ?? ""),
        );
        const link = pairLink(tenant.store, tenant.publicUrl, code);
        return { said: "A link for a new password. It is shown this once.", shown: { link } };
      },
    },
    remove: {
      verb: "removeAccount",
      target,
      act({ tenant, who, params }) {
        const { email } = getAccount(tenant.store, params["account"] ?? "");
        tenant.store.write((tx) => removeAccount(tx, who.accountId, params["account"] ?? ""));
        return { said: `${email} was removed.`, to: "/people" };
      },
    },
    ...contactForms(({ params }) => params["account"] ?? ""),
    ...passkeysOf,
  },
};

/** What would stop a removal, as links. */
function named(call: PageCall, { id }: Account): Markup {
  const { store } = call.tenant;
  const links = (all: string[], path: (project: string, name: string) => string) =>
    all.map((place) => {
      const at = place.indexOf("/");
      return html`<li>${way(call, path(place.slice(0, at), place.slice(at + 1)), place)}</li>`;
    });
  const rules = rulesNaming(store, id);
  const schedules = schedulesNaming(store, id);
  if (rules.length + schedules.length === 0)
    return html`<h2>Named by</h2><p class="soft">No ladder and no schedule names them.</p>`;
  return html`<h2>Named by</h2><ul>
${links(rules, (project, name) => pathOf("p", project, "rules", name))}
${links(schedules, (project, name) => pathOf("oncall", project, name))}</ul>`;
}

function change(
  call: PageCall,
  { account, at, mayGovern }: { account: Account; at: string; mayGovern: boolean },
): Markup {
  if (!mayGovern)
    return html`<h2>Change</h2><p class="soft">Owners and admins change people. Ask ${managers(call)}.</p>`;
  const action = `${at}/change`;
  const choices = roles
    .filter((role) => atLeast(call.who.role, role))
    .map((role) => ({ value: role, name: role }));
  return html`<h2>Change</h2>
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "display_name", label: "Name", value: account.display_name })}
${select(call, action, { name: "role", label: "Role", value: account.role, choices })}
<p class="form-foot"><button class="button second">Save</button></p></form>
${
  call.shown["link"] !== undefined &&
  html`<div class="notice"><p>Give this link to ${account.email}: for an hour it sets a new password, once.</p><pre class="code" id="reset-link">${call.shown["link"]}</pre><button type="button" class="button second" data-copy="reset-link" hidden>Copy</button></div>`
}
${button(call, { action: `${at}/reset`, name: "Make a link for a new password", kind: "second" })}
<details id="remove"><summary>Remove this person</summary>
<p class="soft">Their keys, passkeys, sessions, devices and contacts go with them. What names them stands in the way.</p>
${button(call, { action: `${at}/remove`, name: `Remove ${account.email}`, kind: "danger" })}</details>`;
}
