import { ECDH } from "node:crypto";
import { and, asc, eq, inArray, like, or } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import { checkUrl } from "../../ground/kit/url.ts";
import { contacts } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Credentials } from "../outbox/credentials.ts";
import { contactKindList } from "../services/list.ts";
import { type ContactGuard, contactsOfKind, createContact, openContact } from "./contacts.ts";
import { openGateway, putGateway } from "./gateways.ts";
import type { Subscription, SubscriptionChange, SubscriptionWrite } from "./subscription.ts";
import { subscriptionIds } from "./subscription-ids.ts";
import { markVerified } from "./verify.ts";

/** Browsers that are pushed to: each is a contact of its person, of kind `web_push`. Wishes name projects by id. */

const KIND = "web_push";
/** A push service's word for a subscription that its browser gave up. */
const GONE = ["http 404", "http 410"];

/** The key that browsers subscribe with now; null where there is none yet, or its secret half is lost. */
export function pushKeyNow(
  reader: Reader,
  { sealer }: Pick<ContactGuard, "sealer">,
): string | null {
  const keys = openGateway(reader, sealer, KIND);
  return keys?.["private_key"] && keys["public_key"] ? keys["public_key"] : null;
}

/** The same, made where there is none: a pair whose secret half is lost is worth nothing. */
export function ensurePushKey(tx: Tx, guard: ContactGuard): string {
  const known = pushKeyNow(tx, guard);
  if (known !== null) return known;
  const kind = contactKindList.gateway(KIND);
  if (kind !== undefined) putGateway(tx, { kind, settings: {}, guard });
  return pushKeyNow(tx, guard) ?? "";
}

type Row = typeof contacts.$inferSelect;

const isOne = (of: { account: string; id?: string }) =>
  and(
    eq(contacts.accountId, of.account),
    eq(contacts.kind, KIND),
    of.id === undefined ? undefined : eq(contacts.id, of.id),
  );

/** By age. `wants` as they are stored. */
export function listSubscriptions(
  reader: Reader,
  guard: ContactGuard,
  of: { account: string; id?: string },
): Subscription[] {
  // Each page asks: most people have none.
  if (subscriptionIds(reader, of.account).length === 0) return [];
  const order = [asc(contacts.createdAt), asc(contacts.id)];
  const rows = reader.orm
    .select()
    .from(contacts)
    .where(isOne(of))
    .orderBy(...order)
    .all();
  const key = pushKeyNow(reader, guard);
  return rows.map((row) => shownSubscription(row, openContact(guard.sealer, row), key));
}

function shownSubscription(row: Row, fields: Credentials | null, key: string | null): Subscription {
  return {
    id: row.id,
    label: row.label,
    host: row.shown,
    wants: wantsOf(row),
    lock_screen: fields?.["lock_screen"] === "place" ? "place" : "all",
    timezone: fields?.["timezone"] ?? null,
    state: row.state,
    renew: fields === null || (row.serverKey !== null && row.serverKey !== key),
    accepted_at: row.lastOkAt,
    shown_at: row.shownAt,
    shown_after: row.shownAfter,
    last_error: row.lastError,
    created_at: row.createdAt,
  };
}

const wantsOf = ({ wants }: Row): string[] =>
  wants === null ? ["pages"] : (JSON.parse(wants) as string[]);

/** Those that the box can reach no more until their browsers subscribe anew, and whose they are. */
export function subscriptionsToRenew(
  reader: Reader,
  guard: Pick<ContactGuard, "sealer">,
): { id: string; accountId: string; label: string; shown: string }[] {
  const key = pushKeyNow(reader, guard);
  const rows = reader.orm.select().from(contacts).where(eq(contacts.kind, KIND)).all();
  return rows.filter(
    (row) =>
      row.state !== "off" && shownSubscription(row, openContact(guard.sealer, row), key).renew,
  );
}

/** The browsers that want every alert of a project that has no ladder for it. */
export function followersOf(
  reader: Reader,
  projectId: number,
): { contactId: string; accountId: string }[] {
  return reader.orm
    .select({ contactId: contacts.id, accountId: contacts.accountId })
    .from(contacts)
    .where(wanting(`all:${projectId}`))
    .orderBy(asc(contacts.createdAt), asc(contacts.id))
    .all();
}

/** A person's devices that want to know of shifts: ids of those that are pushed to, and whether some were given up by their services. */
export function shiftDevices(reader: Reader, account: string): { ids: string[]; gaveUp: boolean } {
  const rows = reader.orm
    .select({ id: contacts.id, state: contacts.state })
    .from(contacts)
    .where(and(eq(contacts.accountId, account), everWanting("shift")))
    .all();
  const ids = rows.filter(({ state }) => state !== "off").map(({ id }) => id);
  return { ids, gaveUp: ids.length < rows.length };
}

const asking = (wish: string) => like(contacts.wants, `%"${wish}"%`);
const isUsed = inArray(contacts.state, ["verified", "failing"]);
const wanting = (wish: string) => and(isUsed, asking(wish));

/** Also where nothing is pushed to it any more, by no wish of its person. */
const everWanting = (wish: string) =>
  and(or(isUsed, and(eq(contacts.state, "off"), inArray(contacts.lastError, GONE))), asking(wish));

/** Whether anybody's device wants to know of shifts. */
export function wantsShifts(reader: Reader): boolean {
  const { id } = contacts;
  return reader.orm.select({ id }).from(contacts).where(everWanting("shift")).get() !== undefined;
}

/** Its browser gave it up, as its push service says: no push goes there any more. */
export const isRetired = ({
  state,
  last_error,
}: Pick<Subscription, "state" | "last_error">): boolean =>
  state === "off" && GONE.includes(last_error ?? "");

/** A person's devices that nothing rings any more until their browsers are added again. */
export function lostDevices(reader: Reader, guard: ContactGuard, account: string): Subscription[] {
  return listSubscriptions(reader, guard, { account }).filter(
    (one) => isRetired(one) || (one.renew && one.state !== "off"),
  );
}

/**
 * Contacts that a new subscription takes the place of: the same endpoint, whoever had it, since a browser has one; the
 * one that it says it had; and what is worth nothing any more and was called the same.
 */
export function supersededBy(
  reader: Reader,
  guard: ContactGuard,
  { account, write }: { account: string; write: SubscriptionWrite },
): string[] {
  const lost = new Set(subscriptionsToRenew(reader, guard).map(({ id }) => id));
  const own = listSubscriptions(reader, guard, { account });
  const same = contactsOfKind(reader, KIND).filter(
    (row) => openContact(guard.sealer, row)?.["address"] === write.endpoint,
  );
  const gone = own.filter(
    (one) =>
      one.id === write.replaces ||
      (one.label === (write.label ?? "") && (lost.has(one.id) || isRetired(one))),
  );
  return [...new Set([...same, ...gone].map(({ id }) => id))];
}

/** Throws 403 for an address that may not be called, 422 for keys that no browser gives, or that are of another box. */
function checkWrite({ endpoint, keys }: SubscriptionWrite, { addressRules }: ContactGuard): void {
  checkUrl(endpoint, addressRules, "/endpoint");
  const isSecret = /^[\w-]{22}(==)?$/.test(keys.auth);
  if (!isSecret) throw notOne("/keys/auth", "must be 16 bytes in base64url");
  if (!isPoint(keys.p256dh)) throw notOne("/keys/p256dh", "must be a public key of P-256");
}

function isPoint(key: string): boolean {
  if (!/^B[\w-]{86}=?$/.test(key)) return false;
  try {
    ECDH.convertKey(key.replace("=", ""), "prime256v1", "base64url", "base64url", "compressed");
    return true;
  } catch {
    return false;
  }
}

function notOne(field: string, reason: string): ServiceError {
  return new ServiceError(
    "invalid_subscription",
    `The browser's subscription can't be used: ${field} ${reason}.`,
    {
      details: [{ field, reason }],
    },
  );
}

/** Makes it; it counts at once, since only the browser itself has its endpoint. What it supersedes is gone before. */
export function createSubscription(
  tx: Tx,
  guard: ContactGuard,
  { account, write }: { account: string; write: SubscriptionWrite },
): Subscription {
  checkWrite(write, guard);
  const key = ensurePushKey(tx, guard);
  if (write.server_key !== undefined && write.server_key.replace(/=+$/, "") !== key)
    throw notOne("/server_key", "is not the box's key: subscribe with the key of GET /v1/push/key");
  const { endpoint, keys, lock_screen, timezone, label } = write;
  const input = {
    address: endpoint,
    p256dh: keys.p256dh,
    auth: keys.auth,
    ...(lock_screen !== undefined && { lock_screen }),
    ...(timezone !== undefined && { timezone }),
  };
  const { contact } = createContact(tx, account, { kind: KIND, label, input, guard });
  const wants = JSON.stringify(write.wants ?? ["pages", "shift"]);
  const set = { wants, serverKey: key };
  tx.orm.update(contacts).set(set).where(eq(contacts.id, contact.id)).run();
  markVerified(tx, contact.id);
  return listSubscriptions(tx, guard, { account, id: contact.id })[0] as Subscription;
}

/** Changes what its person wants of it; what is left out stays. */
export function changeSubscription(
  tx: Tx,
  guard: ContactGuard,
  { of, change }: { of: { account: string; id: string }; change: SubscriptionChange },
): Subscription {
  const row = tx.orm.select().from(contacts).where(isOne(of)).get() as Row;
  const { label = row.label, lock_screen, timezone } = change;
  const wants = change.wants === undefined ? row.wants : JSON.stringify(change.wants);
  const fields = openContact(guard.sealer, row);
  const more = {
    ...(lock_screen !== undefined && { lock_screen }),
    ...(timezone !== undefined && { timezone }),
  };
  // What can't be opened has to be made anew, and stays as it is until then.
  const isSame = fields === null || Object.keys(more).length === 0;
  const place = sealPlace("contacts", "sealed", row.id);
  const sealed = isSame
    ? row.sealed
    : guard.sealer.seal(JSON.stringify({ ...fields, ...more }), place);
  tx.orm.update(contacts).set({ label, wants, sealed }).where(eq(contacts.id, row.id)).run();
  tx.note({ topic: "people" });
  return listSubscriptions(tx, guard, of)[0] as Subscription;
}
