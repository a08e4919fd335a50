import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { listCodes, revokeCode } from "../../../people/codes.ts";
import { codeTtl, codeWrite, type Invitation } from "../../../people/pairing.ts";
import { atLeast, isManager, mustManage, roles } from "../../../people/roles.ts";
import { canMail, invitePerson } from "../../../tenant/invite.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { chip, facesOf, proofDot } from "../ui/faces.ts";
import { button, field, select, tick } from "../ui/form.ts";
import { calledOf, managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { qrCode } from "../ui/qr.ts";
import { reached } from "../ui/reached.ts";
import { schedulePage, seatNow } from "../ui/schedule.ts";
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
      async act({ tenant, who }, form) {
        const emails = (form.get("email") ?? "").split(/[\s,;]+/).filter((one) => one !== "");
        if (emails.length > MOST_INVITED)
          throw invalid([{ field: "/email", reason: `at most ${MOST_INVITED} at once` }]);
        const wanted = (emails.length === 0 ? [null] : emails).map((email) =>
          check(
            codeWrite,
            {
              role: form.get("role") ?? "member",
              ttl_seconds: Number(form.get("hours") ?? 1) * 3600,
              email,
              mail: form.has("mail") && email !== null,
            },
            "body",
          ),
        );
        const made: Invitation[] = [];
        for (const one of wanted) made.push(await invitePerson(tenant, who.accountId, one));
        const left = made.filter(({ mailed }) => mailed !== true);
        const went = made.length - left.length;
        const failed = left.find(({ mail_error }) => mail_error !== undefined)?.mail_error;
        const said = [
          went > 0 && `${counted(went, "mail")} accepted by the mail server.`,
          left.length === 1 && "An invitation. Its link is shown this once.",
          left.length > 1 && `${left.length} invitations. Their links are shown this once.`,
          failed !== undefined && `Not mailed: ${failed}.`,
        ];
        const links = left.map(({ email, link }) => [email ?? "", link]);
        return {
          said: said.filter((one) => one !== false).join(" "),
          shown: links.length === 0 ? {} : { links: JSON.stringify(links) },
        };
      },
    },
    "codes/{pairing_code}/revoke": {
      verb: "revokePairingCode",
      act({ tenant, who, params }) {
        tenant.store.write((tx) => {
          mustManage(who.role);
          revokeCode(tx, params["pairing_code"] ?? "");
        });
        return { said: "Taken back. Its link no longer works." };
      },
    },
  },
};

async function people(call: PageCall): Promise<Markup> {
  const { tenant, base, who } = call;
  const faces = await facesOf(call);
  const duties = await dutiesNow(call);
  const items: Markup[] = [];
  const lost: Markup[] = [];
  for (const account of listAccounts(tenant.store)) {
    const { id, email, role } = account;
    const { dot, word } = await reached(call, account);
    const isTold = dot === "shown" ? "soft" : dot === "accepted" ? "warn" : "crit";
    if (dot === "none" && duties.has(id))
      lost.push(way(call, pathOf("people", id), calledOf(account)));
    const seen = isManager(who.role) ? lastHere(call, id) : null;
    items.push(html`<li class="who-item who-person">${chip(faces(id))}
<div><p><a href="${base}${pathOf("people", id)}">${calledOf(account)}</a> <span class="soft">${id === who.accountId && "you · "}${role}</span></p>
<p class="small ${isTold}">${word}</p><p class="small soft">${email}${seen !== null && html` · last here ${ago(call, seen)}`}</p></div>${
      duties.has(id) && html`<div class="who-duty small">${duties.get(id)}</div>`
    }</li>
`);
  }
  const note =
    lost.length > 0 &&
    html`<p class="notice notice-wrong"><strong>On call now or next, and nothing reaches them:</strong> ${lost.map((one, i) => html`${i > 0 && ", "}${one}`)}</p>`;
  return html`${note}<ul class="who">${items}</ul><p class="small soft who-dots"><span class="phrase">${proofDot("proved")} seen by a device in the past week</span> <span class="phrase">${proofDot("stale")} longer ago</span> <span class="phrase">${proofDot("never")} never</span> <span class="phrase">${proofDot("none")} nothing reaches them</span></p>`;
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
        html`<p>on call now: ${place}${end !== null && html` <span class="soft">until ${clockTime(call, end)}</span>`}</p>`,
      );
    }
    if (next !== null && next.account_id !== null)
      add(
        next.account_id,
        html`<p>next: ${place} <span class="soft">from ${clockTime(call, next.starts_at)}</span></p>`,
      );
  }
  return duties;
}

/** Each mail is waited for. */
const MOST_INVITED = 20;

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
  const links = JSON.parse(shown["links"] ?? "[]") as [email: string, link: string][];
  return html`<h2>Invite</h2>
${links.map(([email, link], i) => {
  const id = i === 0 ? "invitation" : `invitation-${i}`;
  return html`<div class="notice"><p>Send this link to ${email || "whom it is for"}. Whoever has the link can make the account.</p>
<pre class="code" id="${id}">${link}</pre><button type="button" class="button second" data-copy="${id}">Copy</button>
${links.length === 1 && qrCode(link, "The invitation's link")}</div>
`;
})}
<form class="form" method="post" action="${base}${action}">
${select(call, action, { name: "role", label: "As", value: "member", choices: roles.filter((role) => atLeast(who.role, role)).map((role) => ({ value: role, name: role })) })}
${field(call, action, { name: "email", label: "For the addresses", hint: `Optional: each gets an invitation that no other address can take. With commas between, ${MOST_INVITED} at most.`, autocomplete: "off", more: html`inputmode="email" spellcheck="false"` })}${
  canMail(call.tenant) &&
  html`
${tick(call, action, { name: "mail", value: "1", usual: true, words: "Send each their link by mail" })}`
}
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
