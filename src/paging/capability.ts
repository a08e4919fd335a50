import { sameSecret } from "../kit/ids.ts";
import type { Sealer } from "../kit/sealer.ts";
import { getMeta } from "../store/meta.ts";
import type { Reader } from "../store/store.ts";

/** The right to take or end one alert as one person, for a day: what a link in a message carries. */
export interface Capability {
  tenantId: string;
  alertId: number;
  accountId: string;
  contactId: string;
  /** Unix seconds. */
  until: number;
}

/** How long one is good for, and what stands for it. */
export const CAPABILITY_SECONDS = 86_400;

const PURPOSE = "capability";

/** `{alert}-{until}-{contact}-{signature}`: the signature is over the account and the tenant, too. */
export function capabilityOf(sealer: Sealer, capability: Capability): string {
  const { alertId, until, contactId } = capability;
  const [signature] = sealer.macs(PURPOSE, signed(capability));
  return `${alertId.toString(36)}-${until.toString(36)}-${contactId}-${signature}`;
}

function signed({ tenantId, alertId, accountId, contactId, until }: Capability): string {
  return JSON.stringify([tenantId, alertId, accountId, contactId, until]);
}

const CAPABILITY = /^([0-9a-z]{1,11})-([0-9a-z]{1,8})-([0-9a-f]{16})-([\w-]{22})$/;

/** What a link's capability says of itself, believed by nobody yet; null where it has another form. */
export function readCapability(
  text: string,
): { alertId: number; until: number; contactId: string } | null {
  const [, alert = "", until = "", contactId = ""] = CAPABILITY.exec(text) ?? [];
  return contactId === ""
    ? null
    : { alertId: Number.parseInt(alert, 36), until: Number.parseInt(until, 36), contactId };
}

/** Whether it is one that this tenant gave out: under any key of the ring, since keys are rotated. */
export function isGenuine(sealer: Sealer, text: string, capability: Capability): boolean {
  const given = CAPABILITY.exec(text)?.[4] ?? "";
  const right = sealer.macs(PURPOSE, signed(capability));
  return right.map((mac) => sameSecret(mac, given)).includes(true);
}

/** What links to the box begin with; null where nobody else could follow them. */
export function linkBase(reader: Reader, publicUrl: string): string | null {
  const base = publicUrl === "" ? String(getMeta(reader, "base_url") ?? "") : publicUrl;
  if (!URL.canParse(base)) return null;
  const { hostname } = new URL(base);
  const isOwn = /^(localhost|127\..*|\[::1?\]|0\.0\.0\.0)$/.test(hostname);
  return isOwn && publicUrl === "" ? null : base.replace(/\/+$/, "");
}
