import { invalid, notFound } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import {
  listPasskeys,
  MOST_PASSKEYS,
  type Passkey,
  removePasskey,
} from "../../../people/passkey.ts";
import { addPasskey, creationOptions, passkeyPurpose } from "../../../people/passkeys.ts";
import { noPartyWords, relyingParty } from "../../../people/relying-party.ts";
import type { Form, PageCall, Screen } from "../screen.ts";
import { CHALLENGE } from "../signin/passkey-way.ts";
import { button, field } from "../ui/form.ts";
import { empty } from "../ui/pieces.ts";
import { ago, clockTime } from "../ui/times.ts";
import { meTabs } from "./tabs.ts";

const AT = "/me/passkeys";

/** Passkeys of whoever is signed in, and how to add one. */
export const passkeysScreen: Screen = {
  path: AT,
  view(call) {
    const party = relyingParty(call.origin);
    const purpose = typeof party !== "string" && passkeyPurpose.add(party, call.who.sessionId);
    return {
      title: "Passkeys",
      nav: "me",
      script: "passkeys",
      headers: purpose === false ? {} : { [CHALLENGE]: call.tenant.ways.challenges.make(purpose) },
      sections: {
        tabs: { watches: [], draw: () => meTabs(call, AT) },
        passkeys: {
          watches: ["people"],
          draw: () => passkeyRows(call, { account: call.who.accountId, at: AT }),
        },
        add: { watches: ["people"], draw: () => addition(call) },
      },
    };
  },
  forms: {
    add: {
      verb: "addPasskey",
      target: () => ({ kind: "passkey", id: "" }),
      async act({ tenant, who, origin }, form) {
        const name = (form.get("name") ?? "").trim();
        if (name === "" || [...name].length > 64)
          throw invalid([{ field: "/name", reason: "must have 1 to 64 characters" }]);
        const party = relyingParty(origin);
        if (typeof party === "string")
          throw invalid([{ field: "/name", reason: noPartyWords[party] }]);
        const { store, ways } = tenant;
        const { accountId, sessionId } = who;
        await addPasskey(
          { store, challenges: ways.challenges },
          { party, accountId, sessionId, name, answer: form.get("passkey") ?? "" },
        );
        return { said: `${name} signs you in from now on.` };
      },
    },
    ...passkeyForms(({ who }) => who.accountId),
  },
};

/** Removing a passkey, from wherever it is listed. `whose`: the account that the page is about. */
export function passkeyForms(whose: (call: PageCall) => string): Record<string, Form> {
  return {
    "{passkey}/remove": {
      verb: "removePasskey",
      target: ({ passkey = "" }) => ({ kind: "passkey", id: passkey }),
      act(call) {
        const { tenant, who, params } = call;
        const id = params["passkey"] ?? "";
        const passkey = listPasskeys(tenant.store, whose(call)).find((one) => one.id === id);
        if (passkey === undefined) throw notFound("passkey");
        tenant.store.write((tx) => removePasskey(tx, who.accountId, { id, kept: who.sessionId }));
        return { said: `${passkey.name} opens nothing any more. Who came in by it is signed out.` };
      },
    },
  };
}

/** An account's passkeys. `at`: where their forms post to. */
export function passkeyRows(
  call: PageCall,
  { account, at }: { account: string; at: string },
): Markup {
  const all = listPasskeys(call.tenant.store, account);
  if (all.length === 0)
    return html`<h2>Passkeys</h2>${empty("No passkeys.", html`<p class="soft">A passkey is kept by a phone, a computer or a security key, and opened by finger, face or PIN. Nobody can be talked out of it.</p>`)}`;
  const row = (one: Passkey) => html`<tr><td data-label="Passkey">${one.name}${
    one.doubted_at !== null &&
    html` <span class="wrong">Refused ${ago(call, one.doubted_at)}: its count went back, so there may be a copy of it. Remove it.</span>`
  }</td>
<td data-label="For">${one.host}</td><td data-label="Added">${clockTime(call, one.created_at)}</td>
<td data-label="Last used">${one.last_used_at === null ? "never" : ago(call, one.last_used_at)}</td>
<td>${button(call, { action: `${at}/${one.id}/remove`, name: "Remove", kind: "plain", label: `Remove ${one.name}` })}</td></tr>
`;
  return html`<h2>Passkeys</h2>
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Passkey</th><th scope="col">For</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col"><span class="hidden-text">Remove</span></th></tr></thead>
<tbody>${all.map(row)}</tbody></table></div>`;
}

function addition(call: PageCall): Markup {
  const { tenant, who, base } = call;
  const party = relyingParty(call.origin);
  if (typeof party === "string")
    return html`<h2>Add a passkey</h2><p class="soft">${noPartyWords[party]}</p>`;
  const held = listPasskeys(tenant.store, who.accountId).length;
  if (held >= MOST_PASSKEYS)
    return html`<h2>Add a passkey</h2><p class="soft">You have ${held}, which is as many as there may be. Remove one that you don’t use.</p>`;
  const action = `${AT}/add`;
  return html`<h2>Add a passkey</h2>
<form class="form" method="post" action="${base}${action}" data-passkey-new="${JSON.stringify(creationOptions(tenant.store, party, who))}">
<input type="hidden" name="passkey" value="">
${field(call, action, { name: "name", label: "What you call it", required: true, hint: `“My phone”. It opens this box at ${party.id} alone.`, autocomplete: "off" })}
<p class="wrong" role="alert" id="passkey-said" data-passkey-said></p>
<p class="form-foot"><button class="button">Add it</button></p></form>`;
}
