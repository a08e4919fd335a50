import { auditedStore } from "../../../ground/audit/record.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { hasAccounts } from "../../../people/accounts.ts";
import { issueFirstCode } from "../../../people/codes.ts";
import { passwordsOpen } from "../../../people/oidc/password-switch.ts";
import { passkeyPurpose, requestOptions } from "../../../people/passkeys.ts";
import { noPartyWords, relyingParty } from "../../../people/relying-party.ts";
import {
  type SignedIn,
  signInByKey,
  signInByPasskey,
  signInByPassword,
} from "../../../people/sign-in.ts";
import { RateLimited } from "../../http/limits.ts";
import { sessionCookie } from "../../http/session-cookie.ts";
import { onMachine } from "../on-machine.ts";
import { CHALLENGE } from "../ui/passkeys.ts";
import { type OpenPage, type Visit, type VisitAnswer, wanted } from "../visit.ts";
import { providerLinks } from "./provider-links.ts";

/** What of a form goes back to who sent it; the password and the key go back to nobody. */
interface Typed {
  email: string;
  /** In a sentence. */
  wrong: string | null;
}

/** A way in, as the page shows it. */
interface WayIn {
  /** Whether a form that was sent is its own; absent: what no other way takes. */
  takes?(form: URLSearchParams): boolean;
  /** Throws ServiceError: the page comes again and says why. */
  enter(visit: Visit, form: URLSearchParams): Promise<SignedIn> | SignedIn;
  /** `action`: where its form posts to. */
  draw(visit: Visit, action: string, typed: Typed): Markup | false;
}

const from = ({ address, agent }: Visit) => ({ address, agent });

const passwordWay: WayIn = {
  enter: (visit, form) =>
    signInByPassword(visit.tenant, {
      email: (form.get("email") ?? "").trim(),
      password: form.get("password") ?? "",
      ...from(visit),
    }),
  draw: (visit, action, { email, wrong }) =>
    passwordsOpen(visit.tenant.store) &&
    html`<form class="form" method="post" action="${action}">
<div class="field"><label for="email">Email</label>
<input id="email" name="email" type="email" required autocomplete="username" value="${email}"${email === "" && html` autofocus`}></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password"${email !== "" && html` autofocus`}${wrong !== null && html` aria-describedby="wrong"`}></div>
<p class="form-foot"><button class="button">Sign in</button></p>
</form>`,
};

const keyWay: WayIn = {
  takes: (form) => (form.get("key") ?? "").trim() !== "",
  enter: (visit, form) => signInByKey(visit.tenant, { key: form.get("key") ?? "", ...from(visit) }),
  draw: (_visit, action) => html`<details id="by-key"><summary>Use an API key</summary>
<form class="form" method="post" action="${action}">
<div class="field"><label for="key">API key</label>
<input id="key" name="key" type="password" required autocomplete="off" aria-describedby="key-hint">
<p class="hint" id="key-hint">The session ends with the key.</p></div>
<p class="form-foot"><button class="button second">Sign in with the key</button></p>
</form></details>`,
};

const passkeyWay: WayIn = {
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
function signInChallenge({ tenant, origin }: Visit): Record<string, string> {
  const party = relyingParty(origin);
  if (typeof party === "string") return {};
  return { [CHALLENGE]: tenant.ways.challenges.make(passkeyPurpose.signIn(party)) };
}

/** Every way in, in the order of the page. */
const WAYS: readonly WayIn[] = [passwordWay, passkeyWay, keyWay];

/** Whose form it is; what no other takes is a password's. */
const wayOf = (form: URLSearchParams): WayIn =>
  WAYS.find((way) => way.takes?.(form)) ?? passwordWay;

/** The ways in for who has an account. */
export const signInPage: OpenPage = {
  path: "/signin",
  get: (visit) => shown(visit, { email: "", wrong: null }),
  async post(visit, form) {
    try {
      visit.tried();
      if (isUnclaimed(visit) && visit.isOwnUsers()) return { to: firstLink(visit) };
      const { cookie } = await wayOf(form).enter(visit, form);
      return { to: wanted(visit.query), cookies: [sessionCookie(cookie, visit.secure)] };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error;
      return refusedSignIn(visit, error, (form.get("email") ?? "").trim());
    }
  },
};

/** The page again, with why nobody is in. */
export function refusedSignIn(visit: Visit, error: ServiceError, email: string): VisitAnswer {
  const wait = error.retryAfter;
  const isLimit = error instanceof RateLimited;
  const wrong = isLimit ? `Too many tries from your address: wait ${wait} s.` : error.message;
  const answer = shown(visit, { email, wrong });
  return {
    ...answer,
    status: error.status === 429 ? 429 : 401,
    refusedAs: error.code,
    ...(wait !== undefined && { headers: { ...answer.headers, "Retry-After": String(wait) } }),
  };
}

function shown(visit: Visit, typed: Typed): VisitAnswer {
  const { base, query } = visit;
  if (isUnclaimed(visit)) return { title: "This box has no account yet", main: nobody(visit) };
  const to = wanted(query);
  const action = `${base}/signin${to === "/alerts" ? "" : `?to=${encodeURIComponent(to)}`}`;
  const { wrong } = typed;
  return {
    title: "Sign in",
    script: "passkeys",
    headers: signInChallenge(visit),
    main: html`${wrong !== null && html`<p class="wrong" role="alert" id="wrong">${wrong}</p>`}
${WAYS.map((way) => way.draw(visit, action, typed))}${providerLinks(visit, to)}
<p class="soft">No account? Ask the person who runs this box for a pairing link.</p>`,
  };
}

const isUnclaimed = ({ tenant }: Visit): boolean => !hasAccounts(tenant.store);

function firstLink({ tenant, address }: Visit): string {
  const store = auditedStore(tenant.store, {
    accountId: null,
    via: "page",
    hint: "machine",
    address,
    verb: "issuePairingCode",
    target: { kind: "pairing_code", id: "" },
  });
  return store.write((tx) => `/pair#code=${issueFirstCode(tx)}`);
}

/** Nobody can claim a box by being first on the network. */
function nobody(visit: Visit): Markup {
  const { tenant, base } = visit;
  const command = html`<pre class="code">${onMachine(tenant, "pair-code --role owner")}</pre>
<p>It prints a link. Open it here.</p>`;
  if (!visit.isOwnUsers())
    return html`<p>On the machine where this box runs, make the first account:</p>
${command}`;
  return html`<p>You are at the machine where this box runs, as the user who runs it.</p>
<form method="post" action="${base}/signin"><p class="form-foot"><button class="button">Make the first account</button></p></form>
<p class="soft">For somebody else, at a terminal of this machine:</p>
${command}`;
}
