import { RateLimited } from "../../http/limits.ts";
import { sessionCookie } from "../../http/session-cookie.ts";
import { ServiceError } from "../../kit/errors.ts";
import { html, type Markup } from "../../kit/html.ts";
import { hasAccounts } from "../../people/accounts.ts";
import { signInByKey, signInByPassword } from "../../people/sign-in.ts";
import { type OpenPage, type Visit, type VisitAnswer, wanted } from "../visit.ts";

/** What was typed; the password and the key go back to nobody. */
interface Typed {
  email: string;
  wrong: string | null;
}

/** A way in for who has an account: by password, or by an API key. */
export const signInPage: OpenPage = {
  path: "/signin",
  get: (visit) => shown(visit, { email: "", wrong: null }),
  async post(visit, form) {
    const email = (form.get("email") ?? "").trim();
    try {
      visit.tried();
      const key = (form.get("key") ?? "").trim();
      const from = { address: visit.address, agent: visit.agent };
      const { cookie } =
        key === ""
          ? await signInByPassword(visit.tenant, {
              ...{ email, password: form.get("password") ?? "" },
              ...from,
            })
          : await signInByKey(visit.tenant, { key, ...from });
      return { to: wanted(visit.query), cookies: [sessionCookie(cookie, visit.secure)] };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error;
      const wait = error.retryAfter;
      const isLimit = error instanceof RateLimited;
      const wrong = isLimit ? `Too many tries from your address: wait ${wait} s.` : error.message;
      const answer = shown(visit, { email, wrong });
      return {
        ...answer,
        status: error.status === 429 ? 429 : 401,
        refusedAs: error.code,
        ...(wait !== undefined && { headers: { "Retry-After": String(wait) } }),
      };
    }
  },
};

function shown(visit: Visit, { email, wrong }: Typed): VisitAnswer {
  const { tenant, base, query } = visit;
  if (!hasAccounts(tenant.store)) return { title: "Nobody has a seat here yet", main: NOBODY };
  const to = wanted(query);
  const action = `${base}/signin${to === "/alerts" ? "" : `?to=${encodeURIComponent(to)}`}`;
  return {
    title: "Sign in",
    main: html`${wrong !== null && html`<p class="wrong" role="alert" id="wrong">${wrong}</p>`}
<form class="form" method="post" action="${action}">
<div class="field"><label for="email">Email</label>
<input id="email" name="email" type="email" required autocomplete="username" value="${email}"${email === "" && html` autofocus`}></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password"${email !== "" && html` autofocus`}${wrong !== null && html` aria-describedby="wrong"`}></div>
<p class="form-foot"><button class="button">Sign in</button></p>
</form>
<details><summary>Use an API key</summary>
<form class="form" method="post" action="${action}">
<div class="field"><label for="key">API key</label>
<input id="key" name="key" type="password" required autocomplete="off" aria-describedby="key-hint">
<p class="hint" id="key-hint">The session ends with the key.</p></div>
<p class="form-foot"><button class="button second">Sign in with the key</button></p>
</form></details>
<p class="soft">No account? Ask whoever runs this box for a pairing link.</p>`,
  };
}

/** Nobody can claim a box by being first on the network. */
const NOBODY: Markup = html`<p>On the machine where this box runs, make the first seat:</p>
<pre class="code">box pair-code --role owner</pre>
<p>It prints a link. Open it here.</p>`;
