import { html, type Markup } from "../../../ground/kit/html.ts";
import { passwordsOpen } from "../../../people/oidc/password-switch.ts";
import { type SignedIn, signInByKey, signInByPassword } from "../../../people/sign-in.ts";
import type { Visit } from "../visit.ts";

/** What of a form goes back to who sent it; the password and the key go back to nobody. */
export interface Typed {
  email: string;
  /** In a sentence. */
  wrong: string | null;
}

/** A way in, as the page shows it. */
export interface WayIn {
  /** Whether a form that was sent is its own; absent: what no other way takes. */
  takes?(form: URLSearchParams): boolean;
  /** Throws ServiceError: the page comes again and says why. */
  enter(visit: Visit, form: URLSearchParams): Promise<SignedIn> | SignedIn;
  /** `action`: where its form posts to. */
  draw(visit: Visit, action: string, typed: Typed): Markup | false;
}

const from = ({ address, agent }: Visit) => ({ address, agent });

export const passwordWay: WayIn = {
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

export const keyWay: WayIn = {
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
