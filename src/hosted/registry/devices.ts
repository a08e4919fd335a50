import type { Device } from "../../people/device.ts";

/** One handset to push to, however many accounts have it. */
export interface Recipient {
  token: string;
  /** Whether any of its accounts allows critical alerts on it. */
  criticalAlerts: boolean;
}

/** Whom a page is for, as it stood at `atMs` by the registry's clock. */
export interface Recipients {
  atMs: number;
  recipients: Recipient[];
}

/** Whom a page is for, read when it is sent. */
export interface Audience {
  tenantId: string;
  /** A box tenant's people are its live pairings, a hosted tenant's its members. */
  through: "pairings" | "memberships";
  /** Box account ids (or account ids of a hosted tenant); null: everyone. */
  only: readonly string[] | null;
}

export interface Devices {
  list(accountId: string): Promise<Device[]>;
  /** Registers a handset as a complete fresh report: an earlier one is overwritten. */
  put(device: {
    accountId: string;
    token: string;
    platform: string;
    criticalAlerts: boolean;
  }): Promise<"registered" | "too_many">;
  /** False when the account has no such device. */
  remove(accountId: string, token: string): Promise<boolean>;
  /** The distinct handsets of an audience, without those set aside. */
  recipients(audience: Audience): Promise<Recipients>;
  /** Whether a handset is still one of an audience. */
  isRecipient(audience: Audience, token: string): Promise<boolean>;
  /**
   * What the push provider said of handsets that were read at `readAtMs`: `gone` ones are removed, as far
   * as they weren't registered since, or since the provider's own time `atMs` where that is earlier; `bad` ones are
   * set aside until they are registered again.
   */
  retire(verdicts: {
    readAtMs: number;
    gone: readonly { token: string; atMs: number | null }[];
    bad: readonly string[];
  }): Promise<void>;
}

/** A handset that a person has. */
export interface Handset {
  /** Box account id (or account id of a hosted tenant). */
  person: string;
  token: string;
  critical: boolean;
}

/** The distinct handsets of those people. */
export function recipientsOf(handsets: readonly Handset[], only: Audience["only"]): Recipient[] {
  const people = only === null ? null : new Set(only);
  const found = new Map<string, Recipient>();
  for (const { person, token, critical } of handsets) {
    if (people !== null && !people.has(person)) continue;
    const criticalAlerts = critical || found.get(token)?.criticalAlerts === true;
    found.set(token, { token, criticalAlerts });
  }
  return [...found.values()];
}
