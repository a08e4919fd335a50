import type { DeviceBook } from "../../people/devices.ts";

/** One device to push to, however many accounts have it. */
export interface Recipient {
  token: string;
  /** Whether any of its accounts allows critical alerts on it. */
  criticalAlerts: boolean;
}

/** A page's recipients at `atMs` by the registry's clock. */
export interface Recipients {
  atMs: number;
  recipients: Recipient[];
}

/** Whom a page is for; resolved when it is sent. */
export interface Audience {
  tenantId: string;
  /** A box tenant's people are its live pairings, a hosted tenant's its members. */
  through: "pairings" | "memberships";
  /** Box account ids (for a hosted tenant its account ids); null: everybody. */
  only: readonly string[] | null;
}

export interface Devices extends Omit<DeviceBook, "through"> {
  /** The distinct devices of an audience, without those set aside. */
  recipients(audience: Audience): Promise<Recipients>;
  /** Whether a device still belongs to an audience. */
  isRecipient(audience: Audience, token: string): Promise<boolean>;
  /**
   * Stores what the push provider said of devices that were read at `readAtMs`. `gone` ones are removed, unless they
   * registered since then, or since the provider's own time `atMs` where that is earlier. `bad` ones are set aside
   * until they register again.
   */
  retire(verdicts: {
    readAtMs: number;
    gone: readonly { token: string; atMs: number | null }[];
    bad: readonly string[];
  }): Promise<void>;
}

/** A device of a person. */
export interface Handset {
  /** Box account id (for a hosted tenant its account id). */
  person: string;
  token: string;
  critical: boolean;
}

/** The distinct devices of these people. */
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
