import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { issueCode, listCodes, pairLink, revokeCode } from "../../../people/codes.ts";
import { codeTtl, codeWrite } from "../../../people/pairing.ts";
import { atLeast, isManager, mustManage, roles } from "../../../people/roles.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { button, field, select } from "../ui/form.ts";
import { managers } from "../ui/people-names.ts";
import { qrCode } from "../ui/qr.ts";
import { reached } from "../ui/reached.ts";
import { schedulePage } from "../ui/schedule.ts";
import { seatNow } from "../ui/seat-now.ts";
import { ago, clockTime } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import { lastHere } from "./ways-in.ts";

/** Who belongs here, what reaches them, and how more come. */
export const peopleScreen: Screen = {
  path: "/people",
  view: (call) => ({
    title: "People",
    nav: "people",
    sections: {
      people: { watches: ["people", "oncall", "oncall:*"], draw: () => people(call) },
      invite: { watches: ["people"], draw: () => invite(call) },
      open: { watches: ["people"], draw: () => openInvitations(call) },
    },
  }),
  forms: {
    invite: {
      verb: "issuePairingCode",
      target: () => ({ kind: "pairing_code", id: "" }),
      act({ tenant, who }, form) {
        const email = (form.get("email") ?? "").trim();
        const { role, ttl_seconds: ttlSeconds } = check(
          codeWrite,
          {
            role: form.get("role") ?? "member",
            ttl_seconds: Number(form.get("hours") ?? 1) * 3600,
            ...(email === "" ? {} : { email }),
          },
          "body",
        );
        const seat = { role, email: email === "" ? null : email, ttlSeconds };
        const { code } = tenant.store.write((tx) => issueCode(tx, who.accountId, seat));
        const link = pairLink(tenant.store, tenant.publicUrl, code);
        return { said: "An invitation. Its link is shown this once.", shown: { link } };
      },
    },
    "codes/{code}/revoke": {
      verb: "revokePairingCode",
      target: ({ code = "" }) => ({ kind: "pairing_code", id: code }),
      act({ tenant, who, params }) {
        tenant.store.write((tx) => {
          mustManage(who.role);
          revokeCode(tx, params["code"] ?? "");
        });
        return { said: "Taken back: its link opens nothing." };
      },
    },
  },
};

async function people(call: PageCall): Promise<Markup> {
  const { tenant, base, who } = call;
  const duties = await dutiesNow(call);
  const items: Markup[] = [];
  for (const account of listAccounts(tenant.store)) {
    const { id, display_name, email, role } = account;
    const { dot, word } = await reached(call, account);
    const seen = isManager(who.role) ? lastHere(call, id) : null;
    items.push(html`<li class="who-item"><span class="dot dot-${dot}" aria-hidden="true"></span>
<div><p><a href="${base}${pathOf("people", id)}">${display_name || email}</a> <span class="soft">${role}${id === who.accountId && " · you"}</span></p>
<p class="soft">${email} · ${word}${seen !== null && html` · last here ${ago(call, seen)}`}</p>${(duties.get(id) ?? []).map((duty) => html`<p class="small">${duty}</p>`)}</div></li>
`);
  }
  return html`<ul class="who">${items}</ul>`;
}

/** What each person has now and has next, by account. */
async function dutiesNow(call: PageCall): Promise<Map<string, Markup[]>> {
  const duties = new Map<string, Markup[]>();
  const add = (account: string, words: Markup) =>
    duties.set(account, [...(duties.get(account) ?? []), words]);
  for (const stored of listAllSchedules(call.tenant.store)) {
    const { current, next } = await seatNow(call, stored);
    const place = way(call, schedulePage(stored), `${stored.project} / ${stored.name}`);
    if (current.on_call) {
      const end = current.ends_at;
      add(
        current.account_id,
        html`on call now: ${place}${end !== null && html`, until ${clockTime(call, end)}`}`,
      );
    }
    if (next !== null && next.account_id !== null)
      add(next.account_id, html`next: ${place}, from ${clockTime(call, next.starts_at)}`);
  }
  return duties;
}

const HOURS = [
  { value: "1", name: "an hour" },
  { value: "24", name: "a day" },
  { value: String(codeTtl.most / 3600), name: "a week" },
];

function invite(call: PageCall): Markup {
  const { who, base, shown } = call;
  if (!isManager(who.role))
    return html`<h2>Invite</h2><p class="soft">Owners and admins invite. Ask ${managers(call)}.</p>`;
  const action = "/people/invite";
  const { link } = shown;
  return html`<h2>Invite</h2>
${
  link !== undefined &&
  html`<div class="notice"><p>Send this link to whom it is for. Whoever has it takes the seat.</p>
<pre class="code" id="invitation">${link}</pre><button type="button" class="button second" data-copy="invitation">Copy</button>
${qrCode(link, "The invitation's link")}</div>`
}
<form class="form" method="post" action="${base}${action}">
${select(call, action, { name: "role", label: "As", value: "member", choices: roles.filter((role) => atLeast(who.role, role)).map((role) => ({ value: role, name: role })) })}
${field(call, action, { name: "email", label: "For the address", type: "email", hint: "Optional: then only that address can take it.", autocomplete: "off" })}
${select(call, action, { name: "hours", label: "Good for", value: "24", choices: HOURS })}
<p class="form-foot"><button class="button" data-key="i" aria-keyshortcuts="i" title="Invite (i)">Make an invitation</button></p></form>`;
}

function openInvitations(call: PageCall): Markup {
  const open = isManager(call.who.role) ? listCodes(call.tenant.store, call.now) : [];
  if (open.length === 0) return html``;
  return html`<h3>Open invitations</h3><ul class="who">${open.map(
    ({
      id,
      role,
      email,
      expires_at,
    }) => html`<li class="who-item"><div><p>${role}${email !== null && ` for ${email}`}, until ${clockTime(call, expires_at)}</p>
${button(call, { action: `/people/codes/${id}/revoke`, name: "Take back", kind: "plain" })}</div></li>
`,
  )}</ul>`;
}
