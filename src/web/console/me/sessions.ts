import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { keyWrite } from "../../../people/account.ts";
import { createKey, listKeys, revokeKey } from "../../../people/keys.ts";
import { type Session, sessionWay } from "../../../people/session.ts";
import { endOthers, endSession, listSessions } from "../../../people/sessions.ts";
import type { PageCall, Screen } from "../screen.ts";
import { button, field } from "../ui/form.ts";
import { counted, empty } from "../ui/pieces.ts";
import { ago, clockTime } from "../ui/times.ts";
import { meTabs } from "./tabs.ts";

const AT = "/me/sessions";

/** Where one is signed in, and one's API keys. */
export const sessionsScreen: Screen = {
  path: AT,
  view: (call) => ({
    title: "Sessions and keys",
    nav: "me",
    sections: {
      tabs: () => meTabs(call, AT),
      sessions: { watches: ["people"], draw: () => sessions(call) },
      keys: { watches: ["people"], draw: () => keys(call) },
    },
  }),
  forms: {
    "{session}/end": {
      verb: "endSession",
      act({ tenant, who, params }) {
        const { session = "" } = params;
        tenant.store.write((tx) => endSession(tx, who.accountId, session));
        return session === who.sessionId
          ? { said: "", to: "/signin", signsOut: "all" }
          : { said: "That browser is signed out." };
      },
    },
    "end-others": {
      verb: "endSessions",
      target: "session",
      act({ tenant, who }) {
        const n = tenant.store.write((tx) => endOthers(tx, who.accountId, who.sessionId));
        return { said: `${counted(n, "other browser")} signed out.` };
      },
    },
    key: {
      verb: "createKey",
      act({ tenant, who }, form) {
        const { label } = check(keyWrite, { label: (form.get("label") ?? "").trim() }, "body");
        const { key } = tenant.store.write((tx) =>
          createKey(tx, { tenantId: tenant.id, accountId: who.accountId, label }),
        );
        return { said: "A new key. It is shown only once.", shown: { key } };
      },
    },
    "key/{key}/revoke": {
      verb: "revokeKey",
      act({ tenant, who, params }) {
        tenant.store.write((tx) => revokeKey(tx, who.accountId, params["key"] ?? ""));
        return { said: "The key no longer works." };
      },
    },
  },
};

function sessions(call: PageCall): Markup {
  const all = listSessions(call.tenant.store, call.who.accountId, call.now);
  return html`<h2>Browsers</h2>
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Browser</th><th scope="col">Came in by</th><th scope="col">From</th><th scope="col">Last seen</th><th scope="col"><span class="hidden-text">End</span></th></tr></thead>
<tbody>${all.map((session) => sessionRow(call, session))}</tbody></table></div>
${all.length > 1 && button(call, { action: `${AT}/end-others`, name: "Sign out all others", kind: "second" })}`;
}

function sessionRow(call: PageCall, session: Session): Markup {
  const { id, agent, address, last_seen_at } = session;
  const isThis = id === call.who.sessionId;
  return html`<tr><td data-label="Browser">${agent === "" ? "unknown" : agent}${isThis && html` <strong>(this one)</strong>`}</td>
<td data-label="Came in by">${sessionWay(session)}</td><td data-label="From">${address}</td>
<td data-label="Last seen">${ago(call, last_seen_at)}</td>
<td>${button(call, { action: `${AT}/${id}/end`, name: isThis ? "Sign out" : "End", kind: "plain" })}</td></tr>
`;
}

function keys(call: PageCall): Markup {
  const mine = listKeys(call.tenant.store, call.who.accountId);
  const { key } = call.shown;
  const action = `${AT}/key`;
  return html`<h2>API keys</h2>
${key !== undefined && html`<div class="notice"><p>Your new key. Keep it like a password: it is shown this once.</p><pre class="code" id="new-key">${key}</pre><button type="button" class="button second" data-copy="new-key">Copy</button></div>`}
${
  mine.length === 0
    ? empty("No keys.", html`<p class="soft">The command line and programs need one.</p>`)
    : html`<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">Key</th><th scope="col">Made</th><th scope="col">Last used</th><th scope="col"><span class="hidden-text">Revoke</span></th></tr></thead><tbody>${mine.map(
        ({
          id,
          hint,
          label,
          created_at,
          last_used_at,
        }) => html`<tr><td data-label="Key" ><span class="mono">…${hint}</span> ${label}</td>
<td data-label="Made">${clockTime(call, created_at)}</td><td data-label="Last used">${last_used_at === null ? "never" : ago(call, last_used_at)}</td>
<td>${button(call, { action: `${AT}/key/${id}/revoke`, name: "Revoke", kind: "plain" })}</td></tr>
`,
      )}</tbody></table></div>`
}
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "label", label: "A new key, for", hint: "“my laptop”. Optional." })}
<p class="form-foot"><button class="button second">Make a key</button></p></form>`;
}
