import * as z from "zod";
import {
  contactAnswer,
  contactChange,
  contactVerify,
  contactWrite,
  notifyBody,
} from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { readNotify, writeNotify } from "../../../out/contacts/notify.ts";
import type { Actor } from "../../../people/actor.ts";
import {
  addContact,
  alterContact,
  dropContact,
  proveContact,
  ringContact,
  sendContactCode,
} from "../../../tenant/contact-verbs.ts";
import type { Route } from "../route.ts";
import { ofAccount, routesIn } from "../scope.ts";

const person = routesIn(ofAccount, { tag: "Contacts", additive: true });

const contactOf = (called: { account: string; actor: Actor; params: { cid: string } }) => ({
  by: called.actor.accountId,
  account: called.account,
  id: called.params.cid,
});

/** Fields that say something. */
export const textsOf = (body: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

export const sentAnswer = z.object({
  ok: z.boolean().meta({ description: "Whether the service took the message." }),
  error: z.string().optional(),
});

/** Ways to reach a person (contract §27). */
export const contactRoutes: Route[] = [
  person.get("/contacts", {
    name: "listContacts",
    summary: "A person's contacts, oldest first; `me` is the caller",
    answer: z.object({ contacts: z.array(contactAnswer) }),
    read: (store, { account }) => ({ contacts: listContacts(store, account) }),
  }),
  person.post("/contacts", {
    name: "createContact",
    summary: "Add a contact; it counts once it is verified",
    body: contactWrite,
    reads: contactAnswer,
    status: 201,
    answer: contactAnswer.extend({
      secret: z.string().optional().meta({ description: "Of a webhook without one: shown once." }),
    }),
    errors: ["too_many", "address_refused"],
    handle: ({ tenant, actor, body, account }) => {
      const { kind, label, ...fields } = body;
      const of = { by: actor.accountId, account };
      const { contact, secret } = addContact(tenant, of, { kind, label, input: textsOf(fields) });
      return { ...contact, ...(secret === null ? {} : { secret }) };
    },
  }),
  person.patch("/contacts/{cid}", {
    name: "changeContact",
    summary: "Rename a contact, or turn it off or on",
    body: contactChange,
    reads: contactAnswer,
    answer: contactAnswer,
    errors: ["contact_not_verified"],
    handle: (call) => alterContact(call.tenant, contactOf(call), call.body),
  }),
  person.delete("/contacts/{cid}", {
    name: "deleteContact",
    summary: "Remove a contact; pages that wait for it are withdrawn",
    handle: (call) => dropContact(call.tenant, contactOf(call)),
  }),
  person.post("/contacts/{cid}/verify", {
    name: "verifyContact",
    summary: "Without a code, send one through the contact; with it, verify the contact",
    body: contactVerify,
    answer: contactAnswer.extend({
      sent: sentAnswer.optional().meta({ description: "How sending the code went." }),
    }),
    errors: ["code_refused"],
    handle: async (call) => {
      const { tenant, body } = call;
      const of = contactOf(call);
      if (body.code !== undefined) return proveContact(tenant, of, body.code);
      const { contact, sent } = await sendContactCode(tenant, of);
      return { ...contact, sent };
    },
  }),
  person.post("/contacts/{cid}/test", {
    name: "testContact",
    summary: "Send a test through a verified contact, like a page",
    auditAlways: true,
    answer: sentAnswer,
    errors: ["contact_not_verified"],
    handle: (call) => ringContact(call.tenant, contactOf(call)),
  }),
  person.get("/notify", {
    name: "getNotificationRules",
    summary: "A person's notification rules: which contact is used when",
    answer: notifyBody,
    read: (store, { account }) => ({ rules: readNotify(store, account) }),
  }),
  person.put("/notify", {
    name: "putNotificationRules",
    summary:
      "Replace a person's notification rules; with none, all verified contacts are used at once, calls after two minutes",
    body: notifyBody,
    answer: notifyBody,
    errors: ["unknown_contact"],
    write: (tx, { account, body }) => ({ rules: writeNotify(tx, account, body.rules) }),
  }),
];
