import { loseContact } from "../core/alerts/fallback.ts";
import { writeLateTimeline } from "../core/alerts/timeline.ts";
import { answerShifts } from "../core/oncall/shift-checks.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import type { Reader } from "../ground/store/store.ts";
import { changeContact, deleteContact, findContact } from "../out/contacts/contacts.ts";
import { replaceInNotify } from "../out/contacts/notify.ts";
import type {
  Subscription,
  SubscriptionChange,
  SubscriptionWrite,
} from "../out/contacts/subscription.ts";
import {
  changeSubscription,
  createSubscription,
  ensurePushKey,
  isRetired,
  listSubscriptions,
  pushKeyNow,
  supersededBy,
} from "../out/contacts/subscriptions.ts";
import { CAPABILITY_SECONDS } from "../out/paging/capability.ts";
import { inheritPages } from "../out/paging/pages.ts";
import { readShown, takeShown } from "../out/paging/shown.ts";
import { dropContact, ringContact, type SentNow } from "./contact-verbs.ts";
import type { Tenant } from "./tenant.ts";

/** Operations on the browsers that a person's pushes go to. Each browser is a contact. */

/** A subscription and its account. */
interface SubscriptionOf {
  account: string;
  id: string;
}

/** The key with which browsers subscribe; made when first needed. */
export function pushKey(tenant: Tenant): string {
  return pushKeyNow(tenant.store, tenant) ?? tenant.store.write((tx) => ensurePushKey(tx, tenant));
}

/** A person's subscriptions, oldest first. */
export function readSubscriptions(tenant: Tenant, account: string): Subscription[] {
  const { store } = tenant;
  return listSubscriptions(store, tenant, { account }).map(named(store));
}

/**
 * Adds a browser, which counts at once. A browser that it replaces is removed; where that one was the same person's,
 * the new one gets its waiting pages, its place in the notification rules, and its settings unless new ones are given.
 * Throws 403 address_refused, 404 for an unknown project, 422 invalid_subscription or too_many.
 */
export function addSubscription(
  tenant: Tenant,
  account: string,
  write: SubscriptionWrite,
): Subscription {
  return tenant.store.write((tx) => {
    const mine = listSubscriptions(tx, tenant, { account });
    const superseded = supersededBy(tx, tenant, { account, write });
    const heirOf = mine.filter(({ id }) => superseded.includes(id));
    const gone = superseded.map((id) =>
      deleteContact(tx, { account: findContact(tx, id)?.accountId ?? account, id }),
    );
    const before = heirOf.find(({ id }) => id === write.replaces) ?? heirOf[0];
    const stored = { ...write, ...(write.wants && { wants: withIdsOf(tx, write.wants) }) };
    const made = createSubscription(tx, tenant, {
      account,
      write: { ...wishesOf(before), ...stored },
    });
    for (const { id: from } of heirOf) {
      inheritPages(tx, { from, to: made.id });
      replaceInNotify(tx, account, { from, to: made.id });
    }
    // A browser that renews its subscription doesn't turn it on again.
    const staysOff = before?.id === write.replaces && before?.state === "off" && !isRetired(before);
    if (staysOff) changeContact(tx, { account, id: made.id }, { state: "off" });
    // Whoever is paged in place of another may have nothing but the new one.
    for (const one of gone) if (one.accountId !== account) loseContact(tx, one);
    return named(tx)({ ...made, ...(staysOff && { state: "off" }) });
  });
}

function wishesOf(before: Subscription | undefined): Partial<SubscriptionWrite> {
  if (before === undefined) return {};
  const { label, wants, lock_screen, timezone } = before;
  return { label, wants, lock_screen, ...(timezone !== null && { timezone }) };
}

/** Changes which messages a subscription gets. Throws 404. */
export function alterSubscription(
  tenant: Tenant,
  of: SubscriptionOf,
  change: SubscriptionChange,
): Subscription {
  return tenant.store.write((tx) => {
    mustBeTheirs(tx, of);
    const stored = { ...change, ...(change.wants && { wants: withIdsOf(tx, change.wants) }) };
    return named(tx)(changeSubscription(tx, tenant, { of, change: stored }));
  });
}

/** Removes a subscription and withdraws what waits for it. Throws 404. */
export function dropSubscription(tenant: Tenant, of: SubscriptionOf): void {
  mustBeTheirs(tenant.store, of);
  dropContact(tenant, { by: of.account, ...of });
}

/** Pushes a test in the same way as pages. Throws 404, 429. */
export function ringSubscription(tenant: Tenant, of: SubscriptionOf): Promise<SentNow> {
  mustBeTheirs(tenant.store, of);
  return ringContact(tenant, { by: of.account, ...of });
}

function mustBeTheirs(reader: Reader, { account, id }: SubscriptionOf): void {
  const contact = findContact(reader, id);
  if (contact?.accountId !== account || contact.kind !== "web_push") throw notFound("subscription");
}

const ID = "SELECT id FROM projects WHERE name = ?";
const NAME = "SELECT name FROM projects WHERE id = ?";

/** Projects by id, because their names change. */
function withIdsOf(reader: Reader, wants: readonly string[]): string[] {
  return [...new Set(wants)].map((wish, i) => {
    if (!wish.startsWith("all:")) return wish;
    const id = reader.sql<[name: string], number>(ID).pluck().get(wish.slice(4));
    if (id !== undefined) return `all:${id}`;
    throw new ServiceError("invalid_subscription", "There is no such project.", {
      details: [{ field: `/wants/${i}`, reason: "unknown_project", value: wish.slice(4, 132) }],
    });
  });
}

/** Projects by name, without those that are gone. */
const named =
  (reader: Reader) =>
  (subscription: Subscription): Subscription => ({
    ...subscription,
    wants: subscription.wants.flatMap((wish) => {
      if (!wish.startsWith("all:")) return [wish];
      const name = reader
        .sql<[id: number], string>(NAME)
        .pluck()
        .get(Number(wish.slice(4)));
      return name === undefined ? [] : [`all:${name}`];
    }),
  });

/** A device reports that it showed a message. Repeating it changes nothing. False for an unknown receipt. */
export function hearShown({ id, store, sealer, clock }: Tenant, receipt: string): boolean {
  const right = readShown(sealer, receipt, unixSeconds(clock));
  if (right === null || right.tenantId !== id) return false;
  store.write((tx) => {
    const shower = takeShown(tx, { tell: writeLateTimeline }, right);
    const sentAt = right.until - CAPABILITY_SECONDS;
    if (shower !== null) answerShifts(tx, { ...shower, sentAt });
  });
  return true;
}
