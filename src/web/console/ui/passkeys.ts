import { notFound } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listPasskeys, type Passkey, removePasskey } from "../../../people/passkey.ts";
import type { Form, PageCall } from "../screen.ts";
import { button } from "./form.ts";
import { ago, clockTime } from "./times.ts";
/** The page's script asks for a challenge by HEAD, just before it needs it: one that stands in a page gets old. */
export const CHALLENGE = "X-Challenge";

/** Removing a passkey, from wherever it is listed. `whose`: the account that the page is about. */
export function passkeyForms(whose: (call: PageCall) => string): Record<string, Form> {
  return {
    "{passkey}/remove": {
      verb: "removePasskey",
      act(call) {
        const { tenant, who, params } = call;
        const id = params["passkey"] ?? "";
        const passkey = listPasskeys(tenant.store, whose(call)).find((one) => one.id === id);
        if (passkey === undefined) throw notFound("passkey");
        tenant.store.write((tx) => removePasskey(tx, who.accountId, { id, kept: who.sessionId }));
        return {
          said: `${passkey.name} no longer works. Whoever signed in with it is signed out.`,
        };
      },
    },
  };
}

/** An account's passkeys. `at`: where their forms post to; `title`: of a page that is about more. */
export function passkeyRows(
  call: PageCall,
  { account, at, title = null }: { account: string; at: string; title?: Markup | null },
): Markup {
  const all = listPasskeys(call.tenant.store, account);
  if (all.length === 0)
    return html`${title}<p class="soft">None. A passkey is stored on a phone, a computer or a security key, and opened by finger, face or PIN. Nobody can be tricked into giving it away.</p>`;
  const row = (one: Passkey) => html`<tr><td data-label="Passkey">${one.name}${
    one.doubted_at !== null &&
    html` <span class="wrong">Refused ${ago(call, one.doubted_at)}: its count went back, so there may be a copy of it. Remove it.</span>`
  }</td>
<td data-label="For">${one.host}</td><td data-label="Added">${clockTime(call, one.created_at)}</td>
<td data-label="Last used">${one.last_used_at === null ? "never" : ago(call, one.last_used_at)}</td>
<td>${button(call, { action: `${at}/${one.id}/remove`, name: "Remove", kind: "plain", label: `Remove ${one.name}` })}</td></tr>
`;
  return html`${title}
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Passkey</th><th scope="col">For</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col"><span class="hidden-text">Remove</span></th></tr></thead>
<tbody>${all.map(row)}</tbody></table></div>`;
}
