import { and, asc, eq } from "drizzle-orm";
import type { AddressRules } from "../../ground/kit/addresses.ts";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { checkHost, checkUrl } from "../../ground/kit/url.ts";
import { mustBeFewer, rowsCounted } from "../../ground/store/rows-counted.ts";
import { contacts } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type ActingAccount, getAccount, mustManageAccount } from "../../people/accounts.ts";
import type { Credentials } from "../outbox/credentials.ts";
import type { ContactKind, TextFields } from "../services/contact-kind.ts";
import { contactKindList } from "../services/list.ts";
import type { Contact } from "./contact.ts";

/** What verbs need that write addresses and secrets. */
export interface ContactGuard {
  sealer: Sealer;
  addressRules: AddressRules;
}

/** Contacts a person may have (contract §27). */
export const MOST_CONTACTS = 20;

const columns = {
  id: contacts.id,
  kind: contacts.kind,
  label: contacts.label,
  address: contacts.shown,
  state: contacts.state,
  verified_at: contacts.verifiedAt,
  last_ok_at: contacts.lastOkAt,
  last_error: contacts.lastError,
  shown_at: contacts.shownAt,
  created_at: contacts.createdAt,
};

/** A person's contacts are their own matter and that of whoever may change them. Throws 404 and 403. */
export function mustBeOwnOrGoverned(reader: Reader, by: ActingAccount, account: string): void {
  const { role } = getAccount(reader, account);
  if (by !== account) mustManageAccount(reader, by, role);
}

/** By age. */
export function listContacts(reader: Reader, account: string): Contact[] {
  return reader.orm
    .select(columns)
    .from(contacts)
    .where(eq(contacts.accountId, account))
    .orderBy(asc(contacts.createdAt), asc(contacts.id))
    .all();
}

/** One of a person's. Throws 404. */
export function getContact(reader: Reader, of: { account: string; id: string }): Contact {
  const row = reader.orm.select(columns).from(contacts).where(isThis(of)).get();
  if (row === undefined) throw notFound("contact");
  return row;
}

const isThis = ({ account, id }: { account: string; id: string }) =>
  and(eq(contacts.id, id), eq(contacts.accountId, account));

/**
 * Makes a contact, not verified yet. `secret` is one that was made for it, answered once. Throws 400 naming the
 * field, 422 too_many, 403 for an address that may not be called.
 */
export function createContact(
  tx: Tx,
  account: string,
  {
    kind: name,
    label = "",
    input,
    guard,
  }: { kind: string; label?: string | undefined; input: Credentials; guard: ContactGuard },
): { contact: Contact; secret: string | null } {
  const kind = contactKindList.find(name);
  if (kind === undefined) throw invalid([{ field: "/kind", reason: "is not known here" }]);
  const held = rowsCounted(tx, contacts, eq(contacts.accountId, account));
  mustBeFewer(held, MOST_CONTACTS, { whose: "A person", what: "contacts" });
  const minted = input["secret"] === undefined ? kind.mint?.(tx.random) : undefined;
  const fields = checkedFields(
    kind,
    minted === undefined ? input : { ...input, secret: minted },
    guard,
  );
  const id = hexId(tx.random);
  tx.orm
    .insert(contacts)
    .values({
      id,
      accountId: account,
      kind: kind.kind,
      label,
      shown: kind.shown(fields),
      sealed: guard.sealer.seal(JSON.stringify(fields), sealPlace("contacts", "sealed", id)),
      state: "unverified",
      codeTries: 0,
      failures: 0,
      createdAt: tx.at,
    })
    .run();
  tx.note({ topic: "people" });
  return { contact: getContact(tx, { account, id }), secret: minted ?? null };
}

/** The fields of a kind as they were given, checked. Throws 400 naming what is wrong or isn't for it, and 403. */
export function checkedFields(
  kind: Pick<ContactKind, "kind" | "addresses"> & { fields: TextFields; hosts?: readonly string[] },
  input: Credentials,
  { addressRules }: Pick<ContactGuard, "addressRules">,
): Credentials {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ""));
  const parsed = kind.fields.safeParse(given);
  if (!parsed.success)
    throw invalid(
      parsed.error.issues.flatMap((issue) =>
        issue.code === "unrecognized_keys"
          ? issue.keys.map((key) => ({
              field: `/${key}`,
              reason: `${kind.kind} has no such field`,
            }))
          : [{ field: `/${issue.path.join("/")}`, reason: missingOr(issue) }],
      ),
    );
  const fields = parsed.data as Credentials;
  for (const field of kind.addresses ?? [])
    if (fields[field]) checkUrl(fields[field], addressRules, `/${field}`);
  for (const field of kind.hosts ?? [])
    if (fields[field]) checkHost(fields[field], addressRules, `/${field}`);
  return fields;
}

function missingOr(issue: { code: string; message: string; input?: unknown }): string {
  return issue.code === "invalid_type" && issue.message.includes("undefined")
    ? "is needed"
    : issue.message;
}

/** Changes its label, or switches it off and on. Throws 404, and 409 where it was never verified. */
export function changeContact(
  tx: Tx,
  of: { account: string; id: string },
  change: { label?: string | undefined; state?: "verified" | "off" | undefined },
): Contact {
  const before = getContact(tx, of);
  const { label = before.label } = change;
  const isOn = before.state === "verified" || before.state === "failing";
  if (change.state === "verified" && before.verified_at === null) throw notVerified();
  const state =
    change.state === undefined || (change.state === "verified" && isOn)
      ? before.state
      : change.state;
  tx.orm.update(contacts).set({ label, state }).where(isThis(of)).run();
  tx.note({ topic: "contact", id: of.id });
  tx.note({ topic: "people" });
  return { ...before, label, state };
}

export function notVerified(): ServiceError {
  return new ServiceError(
    "contact_not_verified",
    "The contact is not verified: have a code sent through it, and enter the code.",
  );
}

/** The contact as it was. Throws 404. Pages that wait for it are the caller's to withdraw. */
export function deleteContact(tx: Tx, of: { account: string; id: string }): ContactRow {
  const gone = tx.orm.delete(contacts).where(isThis(of)).returning(rowColumns).get();
  if (gone === undefined) throw notFound("contact");
  tx.note({ topic: "people" });
  return gone;
}

/** A contact as a sender needs it. */
export interface ContactRow {
  id: string;
  accountId: string;
  kind: string;
  label: string;
  shown: string;
  sealed: string;
  state: Contact["state"];
  sentMs: number | null;
  failures: number;
}

const rowColumns = {
  id: contacts.id,
  accountId: contacts.accountId,
  kind: contacts.kind,
  label: contacts.label,
  shown: contacts.shown,
  sealed: contacts.sealed,
  state: contacts.state,
  sentMs: contacts.sentMs,
  failures: contacts.failures,
};

/** null once it is deleted. */
export function findContact(reader: Reader, id: string): ContactRow | null {
  return reader.orm.select(rowColumns).from(contacts).where(eq(contacts.id, id)).get() ?? null;
}

/** Everybody's contacts of one kind. */
export function contactsOfKind(reader: Reader, kind: string): ContactRow[] {
  return reader.orm.select(rowColumns).from(contacts).where(eq(contacts.kind, kind)).all();
}

/** Its address and what goes with it; null when it can't be opened: it must be entered again. */
export function openContact(
  sealer: Sealer,
  row: { id: string; sealed: string },
): Credentials | null {
  const opened = sealer.open(row.sealed, sealPlace("contacts", "sealed", row.id));
  return opened === null ? null : (JSON.parse(opened) as Credentials);
}

/** Stores what a service taught of an address: a group that became another chat. */
export function learnContact(
  tx: Tx,
  sealer: Sealer,
  { id, learned }: { id: string; learned: Credentials },
): void {
  const row = findContact(tx, id);
  const fields = row === null ? null : openContact(sealer, row);
  if (fields === null) return;
  const text = JSON.stringify({ ...fields, ...learned });
  const sealed = sealer.seal(text, sealPlace("contacts", "sealed", id));
  tx.orm.update(contacts).set({ sealed }).where(eq(contacts.id, id)).run();
}
