import { loseContact } from "../core/alerts/fallback.ts";
import { notFound } from "../ground/kit/errors.ts";
import { hexId } from "../ground/kit/ids.ts";
import type { Contact } from "../out/contacts/contact.ts";
import {
  type ContactRow,
  changeContact,
  createContact,
  deleteContact,
  findContact,
  getContact,
  mustBeOwnOrGoverned,
  notVerified,
} from "../out/contacts/contacts.ts";
import { takeSend } from "../out/contacts/sends.ts";
import { codeRefused, issueContactCode, verifyContact } from "../out/contacts/verify.ts";
import { codeMessage, testMessage } from "../out/paging/say.ts";
import type { DirectMessage } from "../out/services/direct-message.ts";
import type { Tenant } from "./tenant.ts";

/** Operations on a person's contacts, called by routes, web pages and commands. */

/** A contact's account, and the account that acts. */
export interface ContactOf {
  /** The account that acts. */
  by: string;
  /** The account of the contact. */
  account: string;
  id: string;
}

/** The result of one message that was sent at once. */
export interface SentNow {
  /** Whether the service accepted it. */
  ok: boolean;
  error?: string;
}

/** Adds a contact, which counts once it is verified. `input`: the fields of its kind. Throws 400, 403, 404, 422. */
export function addContact(
  tenant: Tenant,
  { by, account }: Omit<ContactOf, "id">,
  write: { kind: string; label: string | undefined; input: Record<string, string> },
): { contact: Contact; secret: string | null } {
  return tenant.store.write((tx) => {
    mustBeOwnOrGoverned(tx, by, account);
    return createContact(tx, account, { ...write, guard: tenant });
  });
}

/** Renames a contact, or turns it off and on. Throws 403, 404, and 409 where it was never verified. */
export function alterContact(
  { store }: Tenant,
  { by, ...of }: ContactOf,
  change: { label?: string | undefined; state?: "verified" | "off" | undefined },
): Contact {
  return store.write((tx) => {
    mustBeOwnOrGoverned(tx, by, of.account);
    const changed = changeContact(tx, of, change);
    if (changed.state === "off") loseContact(tx, findContact(tx, of.id) as ContactRow);
    return changed;
  });
}

/** Removes a contact and withdraws the pages that wait for it. Throws 403, 404. */
export function dropContact({ store }: Tenant, { by, ...of }: ContactOf): void {
  store.write((tx) => {
    mustBeOwnOrGoverned(tx, by, of.account);
    loseContact(tx, deleteContact(tx, of));
  });
}

/** Sends a new code to a contact. Throws 403, 404, 429. */
export async function sendContactCode(tenant: Tenant, { by, ...of }: ContactOf) {
  const { store } = tenant;
  const code = store.write((tx) => {
    mustBeOwnOrGoverned(tx, by, of.account);
    getContact(tx, of);
    takeSend(store, of.account);
    return issueContactCode(tx, of);
  });
  const sent = await sendNow(tenant, of.id, codeMessage(code, hexId(store.random)));
  return { contact: getContact(store, of), sent };
}

/** Verifies a contact by the code that was sent. Throws 403, 404, 422 code_refused. */
export function proveContact({ store }: Tenant, { by, ...of }: ContactOf, code: string): Contact {
  const verified = store.write((tx) => {
    mustBeOwnOrGoverned(tx, by, of.account);
    return verifyContact(tx, of, code);
  });
  if ("refused" in verified) throw codeRefused(verified.refused);
  return verified.contact;
}

/** Sends a test in the same way as pages. Throws 403, 404, 409 where the contact isn't verified, 429. */
export async function ringContact(tenant: Tenant, { by, ...of }: ContactOf): Promise<SentNow> {
  mustBeOwnOrGoverned(tenant.store, by, of.account);
  if (getContact(tenant.store, of).verified_at === null) throw notVerified();
  takeSend(tenant.store, of.account);
  return sendNow(tenant, of.id, testMessage(hexId(tenant.store.random)));
}

async function sendNow(tenant: Tenant, id: string, message: DirectMessage): Promise<SentNow> {
  const contact = findContact(tenant.store, id);
  if (contact === null) throw notFound("contact");
  const { verdict } = await tenant.outbox.contacts.send(contact, message);
  return verdict.kind === "delivered" ? { ok: true } : { ok: false, error: verdict.error };
}
