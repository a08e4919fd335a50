import { ServiceError } from "../../../ground/kit/errors.ts";
import { html } from "../../../ground/kit/html.ts";
import { passkeyPurpose, requestOptions } from "../../../people/passkeys.ts";
import { noPartyWords, relyingParty } from "../../../people/relying-party.ts";
import { signInByPasskey } from "../../../people/sign-in.ts";
import { CHALLENGE } from "../ui/passkeys.ts";
import type { Visit } from "../visit.ts";
import type { WayIn } from "./ways.ts";

export const passkeyWay: WayIn = {
  takes: (form) => form.has("passkey"),
  enter({ tenant, origin, address, agent }, form) {
    const party = relyingParty(origin);
    if (typeof party === "string") throw new ServiceError("sign_in_refused", noPartyWords[party]);
    const answer = form.get("passkey") ?? "";
    if (answer === "")
      throw new ServiceError(
        "sign_in_refused",
        "A passkey takes a browser with scripts that knows passkeys.",
      );
    return signInByPasskey(tenant, { party, answer, address, agent });
  },
  draw({ origin }, action) {
    const party = relyingParty(origin);
    if (typeof party === "string") return html`<p class="soft">${noPartyWords[party]}</p>`;
    return html`<form class="form" method="post" action="${action}" data-passkey="${JSON.stringify(requestOptions(party))}">
<input type="hidden" name="passkey" value="">
<p class="wrong" role="alert" data-passkey-said></p>
<p class="form-foot"><button class="button second">Use a passkey</button></p>
</form>`;
  },
};

/** A fresh challenge for who signs in; nothing where there can be no passkeys. */
export function signInChallenge({ tenant, origin }: Visit): Record<string, string> {
  const party = relyingParty(origin);
  if (typeof party === "string") return {};
  return { [CHALLENGE]: tenant.ways.challenges.make(passkeyPurpose.signIn(party)) };
}
