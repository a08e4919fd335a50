import { z } from "zod";
import {
  contactAnswer,
  contactChange,
  contactReadOnly,
  contactVerify,
  contactWrite,
  notifyBody,
} from "../../../out/contacts/contact.ts";
import { listContacts, mustBeOwnOrGoverned } from "../../../out/contacts/contacts.ts";
import { readNotify, writeNotify } from "../../../out/contacts/notify.ts";
import {
  addContact,
  alterContact,
  dropContact,
  proveContact,
  ringContact,
  sendContactCode,
} from "../../../tenant/contact-verbs.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const accountPath = z.strictObject({ account: z.string() });
const contactPath = z.strictObject({ account: z.string(), cid: z.string() });

/** `me` stands for the caller's own account. */
const accountOf = ({ account }: { account: string }, actor: { accountId: string }): string =>
  account === "me" ? actor.accountId : account;

const contactOf = (params: { account: string; cid: string }, actor: { accountId: string }) => ({
  by: actor.accountId,
  account: accountOf(params, actor),
  id: params.cid,
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

const common = { plane: "api", additive: true } as const;
const contacts = { ...common, tag: "Contacts" } as const;
const personErrors = ["forbidden", "not_found"] as const;
const bodyErrors = ["invalid_request", "invalid_json"] as const;

/** Ways to reach a person (contract §27). */
export const contactRoutes: Route[] = [
  route({
    ...contacts,
    method: "GET",
    path: "/v1/accounts/{account}/contacts",
    name: "listContacts",
    summary: "The ways to reach a person, by age; `me` stands for oneself",
    params: accountPath,
    status: 200,
    answer: z.object({ contacts: z.array(contactAnswer) }),
    errors: personErrors,
    handle({ tenant: { store }, actor, params }) {
      const account = accountOf(params, actor);
      mustBeOwnOrGoverned(store, actor.accountId, account);
      return { contacts: listContacts(store, account) };
    },
  }),
  route({
    ...contacts,
    method: "POST",
    path: "/v1/accounts/{account}/contacts",
    name: "createContact",
    summary: "Add a way to reach a person; it counts once it is verified",
    params: accountPath,
    body: contactWrite(),
    readOnly: [...contactReadOnly, "state"],
    status: 201,
    answer: contactAnswer.extend({
      secret: z.string().optional().meta({ description: "Of a webhook without one: shown once." }),
    }),
    errors: [...personErrors, ...bodyErrors, "too_many", "address_refused"],
    handle({ tenant, actor, params, body }) {
      const { kind, label, ...fields } = body;
      const of = { by: actor.accountId, account: accountOf(params, actor) };
      const { contact, secret } = addContact(tenant, of, { kind, label, input: textsOf(fields) });
      return { ...contact, ...(secret === null ? {} : { secret }) };
    },
  }),
  route({
    ...contacts,
    method: "PATCH",
    path: "/v1/accounts/{account}/contacts/{cid}",
    name: "changeContact",
    summary: "Name a contact, or switch it off and on",
    params: contactPath,
    body: contactChange,
    readOnly: [...contactReadOnly, "kind", "address"],
    status: 200,
    answer: contactAnswer,
    errors: [...personErrors, ...bodyErrors, "contact_not_verified"],
    handle({ tenant, actor, params, body }) {
      return alterContact(tenant, contactOf(params, actor), body);
    },
  }),
  route({
    ...contacts,
    method: "DELETE",
    path: "/v1/accounts/{account}/contacts/{cid}",
    name: "deleteContact",
    summary: "Remove a contact; pages that wait for it are withdrawn",
    params: contactPath,
    status: 200,
    answer: deleted,
    errors: personErrors,
    handle({ tenant, actor, params }) {
      dropContact(tenant, contactOf(params, actor));
      return { deleted: true };
    },
  }),
  route({
    ...contacts,
    method: "POST",
    path: "/v1/accounts/{account}/contacts/{cid}/verify",
    name: "verifyContact",
    summary: "Without a code one is sent through the contact; with it the contact is verified",
    params: contactPath,
    body: contactVerify,
    status: 200,
    answer: contactAnswer.extend({
      sent: sentAnswer.optional().meta({ description: "How sending the code went." }),
    }),
    errors: [...personErrors, ...bodyErrors, "code_refused"],
    async handle({ tenant, actor, params, body }) {
      const of = contactOf(params, actor);
      if (body.code !== undefined) return proveContact(tenant, of, body.code);
      const { contact, sent } = await sendContactCode(tenant, of);
      return { ...contact, sent };
    },
  }),
  route({
    ...contacts,
    method: "POST",
    path: "/v1/accounts/{account}/contacts/{cid}/test",
    name: "testContact",
    summary: "Send a test through a verified contact, by the way that pages take",
    deed: true,
    params: contactPath,
    status: 200,
    answer: sentAnswer,
    errors: [...personErrors, "contact_not_verified"],
    handle: ({ tenant, actor, params }) => ringContact(tenant, contactOf(params, actor)),
  }),
  route({
    ...contacts,
    method: "GET",
    path: "/v1/accounts/{account}/notify",
    name: "getNotificationRules",
    summary: "When which of a person's contacts are used",
    params: accountPath,
    status: 200,
    answer: notifyBody,
    errors: personErrors,
    handle({ tenant: { store }, actor, params }) {
      const account = accountOf(params, actor);
      mustBeOwnOrGoverned(store, actor.accountId, account);
      return { rules: readNotify(store, account) };
    },
  }),
  route({
    ...contacts,
    method: "PUT",
    path: "/v1/accounts/{account}/notify",
    name: "putNotificationRules",
    summary: "Replace them; none: all verified contacts at once, calls after two minutes",
    params: accountPath,
    body: notifyBody,
    status: 200,
    answer: notifyBody,
    errors: [...personErrors, ...bodyErrors, "unknown_contact"],
    handle({ tenant, actor, params, body }) {
      const account = accountOf(params, actor);
      return tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, account);
        return { rules: writeNotify(tx, account, body.rules) };
      });
    },
  }),
];
