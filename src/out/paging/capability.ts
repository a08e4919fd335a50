import { sameSecret } from "../../ground/kit/ids.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { getMeta } from "../../ground/store/meta.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { MessageName } from "./message-name.ts";

/** The right to answer one message as one person, for a day: what a link in it carries. */
interface Capability {
  tenantId: string;
  /** The alert that the message names first. */
  alertId: number;
  /** Absent in links of before messages had names. */
  message?: MessageName;
  accountId: string;
  contactId: string;
  until: number;
}

/** How long one is good for, and what stands for it. */
export const CAPABILITY_SECONDS = 86_400;

/**
 * The end of the right that a message carries, the same at each try: a day after its page was due. Of one that comes half a
 * day late or later it is as many days more. Unix seconds.
 */
export function capabilityEnd({ due, now }: { due: number; now: number }): number {
  const days = 1 + Math.floor(Math.max(0, now - due) / CAPABILITY_SECONDS + 0.5);
  return due + days * CAPABILITY_SECONDS;
}

const PURPOSE = "capability";

/**
 * `{alert}.{row}.{sum}-{until}-{contact}-{signature}`: the signature is over the account and the tenant, too. `whole`: those two stand
 * before it, for a service of many tenants, which opens none for a link that it didn't give out.
 */
export function capabilityOf(
  sealer: Sealer,
  capability: Capability,
  { whole = false }: { whole?: boolean } = {},
): string {
  const { tenantId, alertId, message, accountId, until, contactId } = capability;
  const [signature] = sealer.macs(PURPOSE, signed(capability));
  const of = message === undefined ? "" : `.${message.lead.toString(36)}.${message.sum}`;
  const short = `${alertId.toString(36)}${of}-${until.toString(36)}-${contactId}-${signature}`;
  return whole ? `${tenantId}${accountId}-${short}` : short;
}

function signed({ tenantId, alertId, accountId, contactId, until, message }: Capability): string {
  const of = message === undefined ? [] : [message.lead, message.sum];
  return JSON.stringify([tenantId, alertId, accountId, contactId, until, ...of]);
}

const CAPABILITY =
  /^(?:([0-9a-f]{16})([0-9a-f]{16})-)?([0-9a-z]{1,11})(?:\.([0-9a-z]{1,11})\.([0-9a-z]{4}))?-([0-9a-z]{1,8})-([0-9a-f]{16})-([\w-]{22})$/;

/** What a link's capability says of itself: all of it, or what doesn't follow from the rest. */
type SaidCapability = Omit<Capability, "tenantId" | "accountId"> &
  Partial<Pick<Capability, "tenantId" | "accountId">>;

/** What it says of itself, believed by nobody yet; null where it has another form. */
export function readCapability(text: string): SaidCapability | null {
  const [, tenantId, accountId, alert = "", row = "", sum, until = "", contactId = ""] =
    CAPABILITY.exec(text) ?? [];
  const digits = [alert, until, ...(sum === undefined ? [] : [row])];
  const numbers = digits.map((each) => Number.parseInt(each, 36));
  const [alertId = 0, untilSeconds = 0, lead = 0] = numbers;
  // One right has one writing.
  const isPlain = numbers.map((number) => number.toString(36)).join() === digits.join();
  if (contactId === "" || !isPlain) return null;
  return {
    ...(tenantId !== undefined && accountId !== undefined && { tenantId, accountId }),
    ...(sum !== undefined && { message: { lead, sum } }),
    alertId,
    until: untilSeconds,
    contactId,
  };
}

/** Whether it is one that this tenant gave out: under any key of the ring, since keys are rotated. */
export function isGenuine(sealer: Sealer, text: string, capability: Capability): boolean {
  const given = CAPABILITY.exec(text)?.[8] ?? "";
  const right = sealer.macs(PURPOSE, signed(capability));
  return right.map((mac) => sameSecret(mac, given)).includes(true);
}

/** Whose tenant's it is: genuine by what it says of itself, its day not over. null for any other text. */
export function tenantOfCapability(sealer: Sealer, text: string, now: number): string | null {
  const said = readCapability(text);
  if (said === null) return null;
  const { tenantId, accountId, ...others } = said;
  if (tenantId === undefined || accountId === undefined) return null;
  const isOurs = isGenuine(sealer, text, { tenantId, accountId, ...others });
  return isOurs && others.until > now ? tenantId : null;
}

const CALLBACKS = "callbacks";

/**
 * What names a tenant in the addresses that services call back at, where there are many: nobody makes one up, so that no
 * tenant is opened for a stranger.
 */
export function callbackSegment(sealer: Sealer, tenantId: string): string {
  return `${tenantId}-${sealer.macs(CALLBACKS, tenantId)[0]}`;
}

/** The tenant that a segment names; null for one that wasn't given out. */
export function tenantOfSegment(sealer: Sealer, segment: string): string | null {
  const [, tenantId = "", mac = ""] = /^([0-9a-f]{16})-([\w-]{22})$/.exec(segment) ?? [];
  const right = sealer.macs(CALLBACKS, tenantId);
  return right.map((each) => sameSecret(each, mac)).includes(true) && tenantId !== ""
    ? tenantId
    : null;
}

/** What links to the box begin with; null where nobody else could follow them. */
export function linkBase(reader: Reader, publicUrl: string): string | null {
  const base = publicUrl === "" ? String(getMeta(reader, "base_url") ?? "") : publicUrl;
  if (!URL.canParse(base)) return null;
  const { hostname } = new URL(base);
  const isOwn = /^(localhost|127\..*|\[::1?\]|0\.0\.0\.0)$/.test(hostname);
  return isOwn && publicUrl === "" ? null : base.replace(/\/+$/, "");
}

/** The id of a store's tenant. */
export const tenantOf = (reader: Reader): string => String(getMeta(reader, "tenant_id") ?? "");
