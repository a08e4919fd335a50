import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Account } from "../../../people/account.ts";
import { listKeys, revokeKey } from "../../../people/keys.ts";
import { sessionWay } from "../../../people/session.ts";
import { endSession, listSessions } from "../../../people/sessions.ts";
import type { Form, PageCall } from "../screen.ts";
import { button } from "../ui/form.ts";
import { ago } from "../ui/times.ts";

/** What lets somebody in: their keys by hint, and the browsers that are signed in. For who may change them. */
export function waysIn(call: PageCall, { id }: Account): Markup {
  const at = `/people/${id}`;
  const keys = listKeys(call.tenant.store, id);
  const sessions = listSessions(call.tenant.store, id, call.now);
  const keyRow = (
    key: (typeof keys)[number],
  ) => html`<tr><td data-label="Key"><span class="mono">…${key.hint}</span> ${key.label}</td>
<td data-label="Last used">${key.last_used_at === null ? "never" : ago(call, key.last_used_at)}</td>
<td>${button(call, { action: `${at}/keys/${key.id}/revoke`, name: "Revoke", kind: "plain", label: `Revoke the key …${key.hint}` })}</td></tr>
`;
  const sessionRow = (
    session: (typeof sessions)[number],
  ) => html`<tr><td data-label="Browser">${session.agent || "unknown"} <span class="soft">${sessionWay(session)}, from ${session.address}</span></td>
<td data-label="Last seen">${ago(call, session.last_seen_at)}</td>
<td>${button(call, { action: `${at}/sessions/${session.id}/end`, name: "Sign out", kind: "plain", label: `Sign out ${session.agent || "unknown"}` })}</td></tr>
`;
  return html`<h2>Ways in</h2>${keys.length === 0 ? html`<p class="soft">No API keys.</p>` : tableOf(["Key", "Last used"], keys.map(keyRow))}
${sessions.length === 0 ? html`<p class="soft">No browser is signed in.</p>` : tableOf(["Browser", "Last seen"], sessions.map(sessionRow))}`;
}

function tableOf(heads: readonly string[], rows: readonly Markup[]): Markup {
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}<th scope="col"><span class="hidden-text">End</span></th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** When they were last here, by a page or by a key; null: never. */
export function lastHere({ tenant, now }: PageCall, id: string): number | null {
  const times = [
    ...listSessions(tenant.store, id, now).map((one) => one.last_seen_at),
    ...listKeys(tenant.store, id).map((one) => one.last_used_at ?? 0),
  ];
  const last = Math.max(0, ...times);
  return last === 0 ? null : last;
}

export const wayInForms: Readonly<Record<string, Form>> = {
  "sessions/{session}/end": {
    verb: "endSession",
    act({ tenant, who, params }) {
      tenant.store.write((tx) => endSession(tx, who.accountId, params["session"] ?? ""));
      return { said: "That browser is signed out." };
    },
  },
  "keys/{key}/revoke": {
    verb: "revokeKey",
    act({ tenant, who, params }) {
      tenant.store.write((tx) => revokeKey(tx, who.accountId, params["key"] ?? ""));
      return { said: "The key no longer works." };
    },
  },
};
