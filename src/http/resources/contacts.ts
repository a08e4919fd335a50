import { z } from "zod";
import { loseContact } from "../../alerts/fallback.ts";
import type { DirectMessage } from "../../channels/direct/message.ts";
import {
  contactAnswer,
  contactChange,
  contactReadOnly,
  contactVerify,
  contactWrite,
  notifyBody,
} from "../../contacts/contact.ts";
import {
  type ContactGuard,
  changeContact,
  createContact,
  deleteContact,
  findContact,
  getContact,
  listContacts,
  mustBeOwnOrGoverned,
  notVerified,
} from "../../contacts/contacts.ts";
import { contactKindList } from "../../contacts/list.ts";
import { readNotify, writeNotify } from "../../contacts/notify.ts";
import { takeSend } from "../../contacts/sends.ts";
import { codeRefused, issueContactCode, verifyContact } from "../../contacts/verify.ts";
import { notFound } from "../../kit/errors.ts";
import { hexId } from "../../kit/ids.ts";
import { codeMessage, testMessage } from "../../paging/say.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

const accountPath = z.strictObject({ account: z.string() });
const contactPath = z.strictObject({ account: z.string(), cid: z.string() });

export const contactGuardOf = ({ sealer, addressRules }: Tenant): ContactGuard => ({
  ...{ sealer, rules: addressRules, kinds: contactKindList },
});

/** `me` stands for the caller's own account. */
const accountOf = ({ account }: { account: string }, actor: { accountId: string }): string =>
  account === "me" ? actor.accountId : account;

/** Fields that say something. */
export const textsOf = (body: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );

const sentAnswer = z.object({
  ok: z.boolean().meta({ description: "Whether the service took the message." }),
  error: z.string().optional(),
});

/** Sends one message through a contact at once, and says how that went. Throws 404. */
async function sendNow(tenant: Tenant, id: string, message: DirectMessage) {
  const contact = findContact(tenant.store, id);
  if (contact === null) throw notFound("contact");
  const { verdict } = await tenant.outbox.contacts.send(contact, message);
  return verdict.kind === "delivered" ? { ok: true } : { ok: false, error: verdict.error };
}

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
      const account = accountOf(params, actor);
      const { kind, label, ...fields } = body;
      const { contact, secret } = tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, account);
        const input = textsOf(fields);
        return createContact(tx, account, { kind, label, input, guard: contactGuardOf(tenant) });
      });
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
      const of = { account: accountOf(params, actor), id: params.cid };
      return tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, of.account);
        const changed = changeContact(tx, of, body);
        if (changed.state === "off") loseContact(tx, of.id);
        return changed;
      });
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
      const of = { account: accountOf(params, actor), id: params.cid };
      tenant.store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, of.account);
        getContact(tx, of);
        loseContact(tx, of.id);
        deleteContact(tx, of);
      });
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
      const of = { account: accountOf(params, actor), id: params.cid };
      const { store } = tenant;
      if (body.code === undefined) {
        const code = store.write((tx) => {
          mustBeOwnOrGoverned(tx, actor.accountId, of.account);
          getContact(tx, of);
          takeSend(store, of.account);
          return issueContactCode(tx, of);
        });
        const sent = await sendNow(tenant, of.id, codeMessage(code, hexId(store.random)));
        return { ...getContact(store, of), sent };
      }
      const { code } = body;
      const verified = store.write((tx) => {
        mustBeOwnOrGoverned(tx, actor.accountId, of.account);
        return verifyContact(tx, of, code);
      });
      if ("refused" in verified) throw codeRefused(verified.refused);
      return verified.contact;
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
    async handle({ tenant, actor, params }) {
      const of = { account: accountOf(params, actor), id: params.cid };
      mustBeOwnOrGoverned(tenant.store, actor.accountId, of.account);
      if (getContact(tenant.store, of).verified_at === null) throw notVerified();
      takeSend(tenant.store, of.account);
      return sendNow(tenant, of.id, testMessage(hexId(tenant.store.random)));
    },
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
