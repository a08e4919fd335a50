import * as z from "zod";
import { boolean, text } from "../ground/kit/fields.ts";

/** The API's bodies and answers for a phone (contract §13, Device; §15, Devices). */

/** The body that registers a phone or updates it. */
export const deviceWrite = z.strictObject({
  token: z.string().meta({ minLength: 64, maxLength: 64, pattern: "^[0-9A-Fa-f]{64}$" }),
  platform: text(32, 1),
  critical_alerts: boolean.default(false),
});

/** Its two times are ISO 8601 in UTC, unlike all others (contract §2). */
export const deviceAnswer = z
  .object({
    token: z.string(),
    platform: z.string(),
    critical_alerts: z.boolean(),
    created_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
  })
  .meta({ id: "Device" });

export type DeviceAnswer = z.output<typeof deviceAnswer>;

/** A phone that its account registered. */
export interface Device {
  /** 64 lower-case hex characters. */
  token: string;
  platform: string;
  criticalAlerts: boolean;
  createdAt: number;
  lastSeenAt: number;
}

export function toDevice(device: Device): DeviceAnswer {
  return {
    token: device.token,
    platform: device.platform,
    critical_alerts: device.criticalAlerts,
    created_at: isoTime(device.createdAt),
    last_seen_at: isoTime(device.lastSeenAt),
  };
}

function isoTime(seconds: number): string {
  return Temporal.Instant.fromEpochMilliseconds(seconds * 1000).toString();
}
