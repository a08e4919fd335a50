import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { base62Secret } from "../../../ground/kit/ids.ts";
import { contactWrite } from "../../../out/contacts/contact.ts";
import { findContact, openContact } from "../../../out/contacts/contacts.ts";
import { gatewaySettings, openGateway, putGateway } from "../../../out/contacts/gateways.ts";
import {
  addContact,
  proveContact,
  ringContact,
  sendContactCode,
} from "../../../tenant/contact-verbs.ts";
import { isSafe } from "../bar.ts";
import type { Form, PageCall } from "../screen.ts";
import { addBrowser, added } from "../ui/browsers.ts";
import { button, field } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { newTopic } from "../ui/qr.ts";
import { ago } from "../ui/times.ts";
import { type FirstSteps, firstStepsOf, wayName } from "./first-steps.ts";

/** Make a phone ring: green only once a code came through it and back. */
export function phoneCard(call: PageCall, steps: FirstSteps): Markup {
  const { rings, waiting } = steps;
  if (rings !== null)
    return html`${head(1, "Make a phone ring", true)}
<p>${wayName(rings.kind, rings.label)} rings for you${rings.last_ok_at !== null && html`, last accepted ${ago(call, rings.last_ok_at)}`}.</p>
<div class="buttons">${button(call, { action: "/welcome/ring", name: "Ring it again", kind: "second" })}
<a href="${call.base}/me/devices">More ways</a></div>`;
  // On the machine of the box itself a browser can be woken, too, but it is no phone.
  const isFar = call.origin.startsWith("https:");
  return html`${head(1, "Make a phone ring", false)}
${!isSafe(call.origin) && html`<p class="soft">This address is http, so notifications in a browser don’t work here. What works now:</p>`}
${newTopic(call, waitingTopic(call, waiting))}
${isFar && thisBrowser(call, steps)}
${waiting === null ? ntfyOffer(call, !isFar) : codeForm(call)}
${!isFar && isSafe(call.origin) && thisBrowser(call, steps)}`;
}

/** `first`: it is what whoever comes here begins with, so that a keyboard is there at once. */
function ntfyOffer(call: PageCall, first: boolean): Markup {
  return html`<p>The ntfy app is free and needs no account. Whoever runs the ntfy server can read the texts of alerts.</p>
<div class="buttons">${button(call, { action: "/welcome/phone", name: "Use the ntfy app", first, kind: first ? "" : "second" })}<a class="button second" href="${call.base}/me/devices">Telegram, mail, Pushover and others</a></div>`;
}

function codeForm(call: PageCall): Markup {
  const action = "/welcome/code";
  return html`<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "code", label: "Subscribed? Type the six digits that arrived", required: true, autocomplete: "one-time-code", more: html`inputmode="numeric"` })}
<p class="form-foot"><button class="button">It rang</button></p></form>
<div class="buttons">${button(call, { action: "/welcome/again", name: "No, what now? Send it again", kind: "second" })}<a href="${call.base}/me/devices">Another way</a></div>`;
}

/** The shortest way, where browsers can be woken: green once it showed what was pushed. */
function thisBrowser(call: PageCall, { browser, waiting }: FirstSteps): Piece {
  if (browser !== null)
    return html`${added(call)}<p>${browser.label === "" ? "This browser" : browser.label} is added: does it ring?</p>
<div class="buttons">${button(call, { action: "/welcome/ring", name: "Ring it" })}<a href="${call.base}/me/devices">Nothing is shown</a></div>`;
  const isFar = call.origin.startsWith("https:");
  return waiting === null && addBrowser(call, isFar ? { first: true } : { kind: "second" });
}

/** Their own topic, until its code was typed: a page that is loaded again must not lose it. */
function waitingTopic({ tenant }: PageCall, waiting: FirstSteps["waiting"]): string | undefined {
  const row = waiting?.kind === "ntfy" ? findContact(tenant.store, waiting.id) : null;
  return row === null ? undefined : openContact(tenant.sealer, row)?.["address"];
}

/** A step's number and name, and whether it is done: in a shape and in a word. */
export function head(number: number, name: string, isDone: boolean): Markup {
  return html`<div class="who-line step-head"><span class="step-mark${isDone && " step-done"}" aria-hidden="true">${isDone ? icon("check", "small") : number}</span><h2>${name}</h2><span class="small ${isDone ? "good" : "soft"}">${isDone ? "done" : "not yet"}</span></div>`;
}

export const phoneForms: Readonly<Record<string, Form>> = {
  phone: {
    verb: "createContact",
    async act(call) {
      const { tenant, who } = call;
      if (who.role === "owner") setUpNtfy(call);
      const address = `box-${base62Secret(tenant.store.random, 20)}`;
      const { kind, label } = check(
        contactWrite,
        { kind: "ntfy", label: "phone", address },
        "body",
      );
      const of = { by: who.accountId, account: who.accountId };
      const { contact } = addContact(tenant, of, { kind, label, input: { address } });
      const { sent } = await sendContactCode(tenant, { ...of, id: contact.id });
      const said = sent.ok
        ? "A code is on its way to the topic."
        : `The code did not get through: ${sent.error ?? ""}`;
      return { said, shown: { topic: address } };
    },
  },
  again: {
    verb: "verifyContact",
    async act(call) {
      const { sent } = await sendContactCode(call.tenant, ofWaiting(call));
      return {
        said: sent.ok ? "A new code is on its way." : `It did not get through: ${sent.error ?? ""}`,
      };
    },
  },
  code: {
    verb: "verifyContact",
    act(call, form) {
      proveContact(call.tenant, ofWaiting(call), form.get("code") ?? "");
      return { said: "From now on your phone rings." };
    },
  },
  ring: {
    verb: "testContact",
    auditAlways: true,
    async act(call) {
      const { accountId } = call.who;
      const { rings, browser } = firstStepsOf(call);
      const id = (rings ?? browser)?.id ?? "";
      const sent = await ringContact(call.tenant, { by: accountId, account: accountId, id });
      return {
        said: sent.ok
          ? "The service accepted it. Did it ring?"
          : `The service did not accept it: ${sent.error ?? ""}`,
      };
    },
  },
};

function ofWaiting(call: PageCall) {
  const { accountId } = call.who;
  return { by: accountId, account: accountId, id: firstStepsOf(call).waiting?.id ?? "" };
}

/** So that a page's buttons work from anywhere: the box makes the topic that answers come by. */
function setUpNtfy({ tenant }: PageCall): void {
  if (openGateway(tenant.store, tenant.sealer, "ntfy") !== null) return;
  const { kind, settings } = gatewaySettings(tenant.store, {
    kind: "ntfy",
    input: {},
    guard: tenant,
  });
  tenant.store.write((tx) => putGateway(tx, { kind, settings, guard: tenant }));
}
