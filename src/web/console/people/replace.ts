import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Account } from "../../../people/account.ts";
import { getAccount, listAccounts } from "../../../people/accounts.ts";
import { mustManage } from "../../../people/roles.ts";
import { replaceAccount } from "../../../tenant/person-verbs.ts";
import type { Form, PageCall } from "../screen.ts";
import { select } from "../ui/form.ts";
import { calledOf } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { type NamedPlace, placeItem, placesNaming } from "./places.ts";

/** What names them, as links; and another put in their place everywhere, at once. */
export function namedSection(call: PageCall, account: Account, mayReplace: boolean): Markup {
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
export function replaceWould(call: PageCall, account: Account): Markup {
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

export const replaceForms: Readonly<Record<string, Form>> = {
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
