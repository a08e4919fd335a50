import { html, type Markup } from "../../../ground/kit/html.ts";
import { confirmedTimes } from "../../../out/contacts/confirmed.ts";
import type { Contact } from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { servedKinds } from "../../../out/contacts/gateways.ts";
import { contactKindList } from "../../../out/services/list.ts";
import type { PageCall } from "../screen.ts";
import { button, field, select } from "./form.ts";
import { empty } from "./pieces.ts";
import { reachedBy } from "./reached.ts";
import { ago } from "./times.ts";

/** Whose contacts a page shows, and where its forms are. */
interface ContactsOf {
  account: string;
  /** `/me/devices`, or a person's page. */
  at: string;
  /** A kind that the page shows elsewhere. */
  but?: string;
}

/** The ways to reach a person, each with what can be done. */
export function contactRows(call: PageCall, of: ContactsOf): Markup {
  const all = listContacts(call.tenant.store, of.account);
  const contacts = all.filter(({ kind }) => kind !== of.but);
  if (all.length === 0)
    return empty(
      "Nothing rings yet.",
      html`<p class="soft">Add a way below: without one no alert gets through.</p>`,
    );
  const times = confirmedTimes(call.tenant.store, of.account);
  return html`<ul class="who">${contacts.map((contact) => one(call, of, { contact, confirmed: times.get(contact.id) }))}</ul>`;
}

function one(
  call: PageCall,
  { at }: ContactsOf,
  { contact, confirmed }: { contact: Contact; confirmed: number | undefined },
): Markup {
  const { id, kind, label, address, state, last_ok_at, last_error } = contact;
  const { dot, word } = reachedBy(call, contact, confirmed);
  const name = label === "" ? kind : label;
  const action = (verb: string) => `${at}/${id}/${verb}`;
  const isNew = state === "unverified";
  return html`<li class="who-item" id="contact-${id}"><span class="dot dot-${dot}" aria-hidden="true"></span>
<div><p><strong>${name}</strong> <span class="soft">${kind} · ${address}</span></p>
<p class="soft">${word}${last_ok_at !== null && html` · last accepted ${ago(call, last_ok_at)}`}</p>
${last_error !== null && html`<p class="wrong">${last_error}</p>`}
${isNew && verifyForm(call, action("verify"), action("code"))}
<div class="buttons">${!isNew && state !== "off" && button(call, { action: action("ring"), name: "Ring it", kind: "second" })}${
    state === "off"
      ? button(call, { action: action("on"), name: "Use it again", kind: "second" })
      : !isNew && button(call, { action: action("off"), name: "Switch off", kind: "second" })
  }${button(call, { action: action("delete"), name: "Remove", kind: "plain" })}</div></div></li>
`;
}

/** Back comes what was sent through it: only then is it known to ring. */
function verifyForm(call: PageCall, verify: string, code: string): Markup {
  return html`<form class="form" method="post" action="${call.base}${verify}">
${field(call, verify, { name: "code", label: "The six digits that arrived", required: true, autocomplete: "one-time-code", more: html`inputmode="numeric"` })}
<p class="form-foot"><button class="button">Verify</button></p></form>
${button(call, { action: code, name: "Send the code", kind: "second" })}`;
}

/** What a browser adds by itself isn't typed. */
const TYPED = contactKindList.kinds.filter(({ kind }) => kind !== "web_push");

/** A form that adds one; kinds that nobody serves here are named with the reason. */
export function addContactForm(call: PageCall, { at }: ContactsOf): Markup {
  const served = servedKinds(call.tenant.store);
  const usable = TYPED.filter(({ kind }) => served.has(kind));
  const missing = TYPED.filter(({ kind }) => !served.has(kind));
  const action = `${at}/add`;
  return html`<form class="form" method="post" action="${call.base}${action}">
${select(call, action, {
  name: "kind",
  label: "By",
  value: "ntfy",
  choices: usable.map(({ kind, about }) => ({ value: kind, name: `${kind}: ${about}` })),
})}
${field(call, action, { name: "address", label: "Address", hint: "The topic, number, address or name at that service. For ntfy it may stay empty: one is made that nobody guesses." })}
${field(call, action, { name: "label", label: "Called", hint: "A name of your choice, like “my phone”. Optional." })}
<p class="form-foot"><button class="button second">Add and send a code</button></p></form>
${
  missing.length > 0 &&
  html`<p class="soft">Not set up here: ${missing.map(({ kind }) => kind).join(", ")}. ${call.who.role === "owner" ? html`<a href="${call.base}/system/gateways">Set them up</a>` : "An owner does it."}</p>`
}`;
}
