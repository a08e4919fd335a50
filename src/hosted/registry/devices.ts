import type { Device } from "../../people/device.ts";

/** One handset to push to, however many accounts have it. */
export interface Recipient {
  token: string;
  /** Whether any of its accounts allows critical alerts on it. */
  criticalAlerts: boolean;
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
  recipients(audience: Audience): Promise<Recipient[]>;
  /** Whether a handset is still one of an audience. */
  isRecipient(audience: Audience, token: string): Promise<boolean>;
  /**
   * What the push provider said of handsets pushed to at `pushedAtMs`: `gone` ones are removed, as far
   * as they weren't registered since; `bad` ones are set aside until they are registered again.
   */
  retire(verdicts: {
    pushedAtMs: number;
    gone: readonly { token: string; atMs: number | null }[];
    bad: readonly string[];
  }): Promise<void>;
}
