import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listPasskeys, MOST_PASSKEYS } from "../../../people/passkey.ts";
import { addPasskey, creationOptions, passkeyPurpose } from "../../../people/passkeys.ts";
import { noPartyWords, relyingParty } from "../../../people/relying-party.ts";
import type { PageCall, Screen } from "../screen.ts";
import { field } from "../ui/form.ts";
import { CHALLENGE, passkeyForms, passkeyRows } from "../ui/passkeys.ts";
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
        tabs: () => meTabs(call, AT),
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
