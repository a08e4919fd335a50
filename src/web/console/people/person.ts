import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type Account, accountChange } from "../../../people/account.ts";
import {
  changeAccount,
  getAccount,
  listAccounts,
  whyOwnerStays,
} from "../../../people/accounts.ts";
import { issueReset, pairLink } from "../../../people/codes.ts";
import { atLeast, isManager, mustManage, roles } from "../../../people/roles.ts";
import { listWalls } from "../../../people/walls.ts";
import { removePerson, replaceAccount } from "../../../tenant/person-verbs.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { awayForms, awaySection } from "../ui/away.ts";
import { contactForms } from "../ui/contact-forms.ts";
import { addContactForm, contactRows } from "../ui/contact-list.ts";
import { chip, facesOf } from "../ui/faces.ts";
import { button, field, select } from "../ui/form.ts";
import { passkeyForms, passkeyRows } from "../ui/passkeys.ts";
import { calledOf, managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { newTopic } from "../ui/qr.ts";
import { reached } from "../ui/reached.ts";
import { ago } from "../ui/times.ts";
import { type NamedPlace, placeItem, placesNaming } from "./places.ts";
import { lastHere, wayInForms, waysIn } from "./ways-in.ts";

/** What names them, as links; and another put in their place everywhere, at once. */
function namedSection(call: PageCall, account: Account, mayReplace: boolean): Markup {
  const places = placesNaming(call.tenant.store, account.id, call.now);
  if (places.length === 0)
    return html`<h2>Named by</h2><p class="soft">No ladder, no layer and no override names them.</p>`;
  return html`<h2>Named by</h2><ul>${places.map((place) => html`<li>${placeItem(call, place)}</li>`)}</ul>
${mayReplace && replaceForm(call, account)}`;
}

function replaceForm(call: PageCall, account: Account): Markup {
  const others = listAccounts(call.tenant.store).filter(({ id }) => id !== account.id);
  if (others.length === 0)
    return html`<p class="soft">Nobody else is here to take their place.</p>`;
  const action = `/people/${account.id}/replace`;
  return html`<form class="form" id="replace-form" method="post" action="${call.base}${action}" data-preview="would" data-preview-to="${call.base}${action}/try">
${select(call, action, { name: "by", label: "Replace everywhere by", value: call.shown["replace"] ?? "", choices: [{ value: "", name: "choose somebody" }, ...others.map((one) => ({ value: one.id, name: calledOf(one) }))] })}
<p class="form-foot"><button class="button second">Replace everywhere</button><button class="second" formaction="${call.base}${action}/try">Show what changes</button></p></form>`;
}

/** What replacing would change, place by place; nothing until somebody is chosen. */
function replaceWould(call: PageCall, account: Account): Markup {
  const by = call.shown["replace"] ?? "";
  const other = listAccounts(call.tenant.store).find(({ id }) => id === by);
  if (other === undefined) return html``;
  const places = placesNaming(call.tenant.store, account.id, call.now);
  const undo = isReversible(call, by)
    ? "It can be undone."
    : `${calledOf(other)} is named elsewhere already, so that it can't be undone by a button.`;
  return html`<div class="notice"><h3>${calledOf(other)} in the place of ${calledOf(account)}</h3><ul>${places.map(
    (place) => html`<li>${placeItem(call, place)}: ${becomes(place, account, other)}</li>`,
  )}</ul><p class="soft">${counted(places.length, "place")}, all or none. ${undo}</p></div>`;
}

function becomes({ kind, beside }: NamedPlace, from: Account, by: Account): string {
  if (!beside.has(by.id)) return `${calledOf(from)} → ${calledOf(by)}`;
  return kind === "layer"
    ? `${calledOf(by)} has both turns`
    : `${calledOf(from)} leaves, ${calledOf(by)} is there already`;
}

/** Whether putting them back changes just what was changed: whoever came stood nowhere before. */
const isReversible = ({ tenant, now }: PageCall, by: string): boolean =>
  placesNaming(tenant.store, by, now).length === 0;

const replaceForms: Readonly<Record<string, Form>> = {
  replace: {
    verb: "replaceAccount",
    act(call, form) {
      const { tenant, who, params } = call;
      mustManage(who.role);
      const [account, by] = [params["account"] ?? "", form.get("by") ?? ""];
      const canUndo = isReversible(call, by);
      const changed = tenant.store.write((tx) => replaceAccount(tx, { account, by }));
      if (changed.length === 0) return { said: "Nothing names them." };
      const [from, to] = [account, by].map((id) => calledOf(getAccount(tenant.store, id)));
      return {
        said: `${to} stands in the place of ${from} in ${counted(changed.length, "place")}.`,
        ...(canUndo ? { undo: { action: `/people/${by}/replace`, fields: { by: account } } } : {}),
      };
    },
  },
  "replace/try": {
    verb: "replaceAccount",
    reads: true,
    act({ who }, form) {
      mustManage(who.role);
      return { said: "", shown: { replace: form.get("by") ?? "" } };
    },
  },
};

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
      title: calledOf(account),
      nav: "people",
      sections: {
        head: { watches: [...watches, "oncall", "oncall:*"], draw: () => head(call, account) },
        ...(mayGovern || account.id === call.who.accountId
          ? {
              contacts: {
                watches,
                draw: () => html`<h2>What rings for them</h2>${newTopic(call)}${contactRows(call, { account: account.id, at })}
<details id="add-contact"><summary>Add a way</summary>${addContactForm(call, { account: account.id, at })}</details>`,
              },
              away: { watches, draw: () => awaySection(call, { account: account.id, at }) },
            }
          : {}),
        named: {
          watches: [...watches, "projects", "project:*", "oncall"],
          draw: () => namedSection(call, account, isManager(call.who.role)),
        },
        would: () => replaceWould(call, account),
        ...(mayGovern && account.id !== call.who.accountId
          ? {
              passkeys: {
                watches,
                draw: () =>
                  passkeyRows(call, {
                    account: account.id,
                    at: `${at}/passkeys`,
                    title: html`<h2>Passkeys</h2>`,
                  }),
              },
              ways: { watches, draw: () => waysIn(call, account) },
            }
          : {}),
        change: { watches, draw: () => change(call, { account, at, mayGovern }) },
      },
    };
  },
  forms: {
    change: {
      verb: "changeAccount",
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
        return { said: `${calledOf(changed)} is ${changed.role}.` };
      },
    },
    reset: {
      verb: "resetPassword",
      act({ tenant, who, params }) {
        const { code } = tenant.store.write((tx) =>
          issueReset(tx, who.accountId, params["account"] ?? ""),
        );
        const link = pairLink(tenant.store, tenant.publicUrl, code);
        return { said: "A link for a new password. It is shown only once.", shown: { link } };
      },
    },
    remove: {
      verb: "removeAccount",
      act({ tenant, who, params }) {
        const { email } = getAccount(tenant.store, params["account"] ?? "");
        tenant.store.write((tx) => removePerson(tx, who.accountId, params["account"] ?? ""));
        return { said: `${email} was removed.`, to: "/people" };
      },
    },
    ...replaceForms,
    ...wayInForms,
    ...contactForms(({ params }) => params["account"] ?? ""),
    ...awayForms(({ params }) => params["account"] ?? ""),
    ...passkeysOf,
  },
};

interface Changing {
  account: Account;
  at: string;
  mayGovern: boolean;
}

async function head(call: PageCall, account: Account): Promise<Markup> {
  const { dot, word } = await reached(call, account);
  const seen = isManager(call.who.role) ? lastHere(call, account.id) : null;
  const face = (await facesOf(call, account.id))(account.id);
  const look = dot === "none" ? "crit" : dot === "accepted" ? "warn" : "soft";
  return html`<div class="who-line">${chip(face, { size: "large" })}<div><span class="${look}">${word}</span><br><span class="soft">${account.email} · ${account.role}${seen !== null && html` · last here ${ago(call, seen)}`}</span></div></div>${changesLink(call, "account", account.id)}`;
}

function change(call: PageCall, changing: Changing): Markup {
  const { account, at, mayGovern } = changing;
  if (!mayGovern)
    return html`<h2>Change</h2><p class="soft">Owners and admins change people. Ask ${managers(call)}.</p>`;
  const action = `${at}/change`;
  return html`<h2>Change</h2>
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "display_name", label: "Name", value: account.display_name })}
${roleField(call, changing, action)}
<p class="form-foot"><button class="button second">Save</button></p></form>
${
  call.shown["link"] !== undefined &&
  html`<div class="notice"><p>Give this link to ${account.email}: for an hour it sets a new password, once.</p><pre class="code" id="reset-link">${call.shown["link"]}</pre><button type="button" class="button second" data-copy="reset-link">Copy</button></div>`
}
${button(call, { action: `${at}/reset`, name: "Make a link for a new password", kind: "second" })}
${removing(call, changing)}`;
}

/** A screen isn't theirs alone: its link outlasts them. For who could revoke it. */
function wallsOf({ tenant, base }: PageCall, { id }: Account): Piece {
  const n = listWalls(tenant.store).filter(({ created_by }) => created_by === id).length;
  if (n === 0) return null;
  return html`<p class="soft">${counted(n, "link")} to the wall that they made ${n === 1 ? "goes" : "go"} on: <a href="${base}/system#walls">revoke what isn't to</a>.</p>
`;
}

/** The last owner keeps the role: said before anybody tries. */
function roleField(call: PageCall, { account }: Changing, action: string): Markup {
  const why = whyOwnerStays(call.tenant.store, account);
  if (why !== null) return html`<p>Role: owner. <span class="why soft">${why}</span></p>`;
  const choices = roles
    .filter((role) => atLeast(call.who.role, role))
    .map((role) => ({ value: role, name: role }));
  return select(call, action, { name: "role", label: "Role", value: account.role, choices });
}

function removing(call: PageCall, { account, at }: Changing): Markup {
  const { store } = call.tenant;
  const places = placesNaming(store, account.id, call.now).filter(
    ({ kind }) => kind !== "fallback",
  );
  const named = `Named in ${counted(places.length, "place")}, listed above: put somebody in their place first.`;
  const why = whyOwnerStays(store, account) ?? (places.length > 0 ? named : null);
  return html`<details id="remove"><summary>Remove this person</summary>
<p class="soft">This deletes their keys, passkeys, sessions, devices and contacts, too. It isn’t possible while a ladder, a layer or an override names them.</p>
${wallsOf(call, account)}${button(call, {
  action: `${at}/remove`,
  name: `Remove ${account.email}`,
  kind: "danger",
  ...(why === null ? {} : { why }),
})}</details>`;
}
