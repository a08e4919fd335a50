import { check } from "../../../ground/kit/check.ts";
import { base62Secret } from "../../../ground/kit/ids.ts";
import { contactWrite } from "../../../out/contacts/contact.ts";
import {
  addContact,
  alterContact,
  type ContactOf,
  dropContact,
  proveContact,
  ringContact,
  type SentNow,
  sendContactCode,
} from "../../../tenant/contact-verbs.ts";
import { textsOf } from "../../http/resources/contacts.ts";
import type { Form, FormDone, PageCall } from "../screen.ts";

/** The forms of a page of contacts. `accountOf`: whose, of the page's own address. */
export function contactForms(accountOf: (call: PageCall) => string): Record<string, Form> {
  const of = (call: PageCall): ContactOf => ({
    by: call.who.accountId,
    account: accountOf(call),
    id: call.params["contact"] ?? "",
  });
  const form = (
    verb: string,
    act: (call: PageCall, form: URLSearchParams) => Promise<FormDone>,
  ): Form => ({ verb, act });
  return {
    add: form("createContact", async (call, fields) => {
      const body = bodyOf(call, fields);
      const { kind, label, ...input } = check(contactWrite, body, "body");
      const { by, account } = of(call);
      const asked = { kind, label, input: textsOf(input) };
      const { contact } = addContact(call.tenant, { by, account }, asked);
      const { sent } = await sendContactCode(call.tenant, { by, account, id: contact.id });
      const shown = kind === "ntfy" ? { topic: body["address"] ?? "", contact: contact.id } : null;
      return { said: `Added. ${codeSaid(sent)}`, ...(shown && { shown }) };
    }),
    "{contact}/code": form("verifyContact", async (call) => {
      const { sent } = await sendContactCode(call.tenant, of(call));
      return { said: codeSaid(sent) };
    }),
    "{contact}/verify": form("verifyContact", async (call, fields) => {
      const { kind } = proveContact(call.tenant, of(call), fields.get("code") ?? "");
      return { said: `Verified: ${kind} is used for pages from now on.` };
    }),
    "{contact}/ring": {
      auditAlways: true,
      ...form("testContact", async (call) => {
        const sent = await ringContact(call.tenant, of(call));
        return {
          said: sent.ok
            ? "The service accepted it. Did it ring?"
            : `The service did not accept it: ${sent.error ?? ""}`,
        };
      }),
    },
    "{contact}/off": form("changeContact", async (call) => {
      alterContact(call.tenant, of(call), { state: "off" });
      return { said: "Switched off.", undo: { action: call.at.replace(/\/off$/, "/on") } };
    }),
    "{contact}/on": form("changeContact", async (call) => {
      alterContact(call.tenant, of(call), { state: "verified" });
      return { said: "It is used again." };
    }),
    "{contact}/delete": form("deleteContact", async (call) => {
      dropContact(call.tenant, of(call));
      return { said: "Removed." };
    }),
  };
}

/** As the interface takes it: what was left empty is left out; a topic is made where none is given. */
function bodyOf({ tenant }: PageCall, fields: URLSearchParams): Record<string, string> {
  const body = Object.fromEntries([...fields].filter(([, value]) => value.trim() !== ""));
  if (body["kind"] === "ntfy") body["address"] ??= `box-${base62Secret(tenant.store.random, 20)}`;
  return body;
}

function codeSaid({ ok, error = "" }: SentNow): string {
  return ok
    ? "A code is on its way: type it in when it arrives."
    : `The code did not get through: ${error}`;
}
