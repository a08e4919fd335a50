import { z } from "zod";
import { notFound } from "../../kit/errors.ts";
import { boolean, text } from "../../kit/fields.ts";
import { type Device, registerDevice } from "../../people/devices.ts";
import { type Route, route } from "../route.ts";

/** The body of both registrations (api §4, Devices). */
export const deviceBody = z.strictObject({
  token: z.string().meta({ minLength: 64, maxLength: 64, pattern: "^[0-9A-Fa-f]{64}$" }),
  platform: text(32, 1),
  critical_alerts: boolean.default(false),
});

/** Fields that only a read returns. */
export const deviceReadOnly = ["created_at", "last_seen_at"] as const;

export const devicesAnswer = z.object({
  devices: z.array(
    z
      .object({
        token: z.string(),
        platform: z.string(),
        critical_alerts: z.boolean(),
        created_at: z.iso.datetime(),
        last_seen_at: z.iso.datetime(),
      })
      .meta({ id: "Device" }),
  ),
});

export const devicePath = z.strictObject({ token: z.string() });

/** A device as it is read: its two times are ISO 8601 in UTC, unlike any other (decisions §2). */
export function shownDevice(device: Device): z.infer<typeof devicesAnswer>["devices"][number] {
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

/** Devices of the calling key's account, not of its tenant (api §4, Devices). */
export const deviceRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/devices",
    name: "listDevices",
    tag: "Devices",
    summary: "The devices of the calling key's account",
    plane: "api",
    status: 200,
    answer: devicesAnswer,
    errors: [],
    handle: async ({ tenant, actor }) => ({
      devices: (await tenant.devices.list(actor.accountId)).map(shownDevice),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/devices",
    name: "registerDevice",
    tag: "Devices",
    summary: "Register a device, or report it anew: what was stored is overwritten",
    plane: "api",
    body: deviceBody,
    readOnly: deviceReadOnly,
    status: 200,
    answer: z.object({ registered: z.boolean() }),
    errors: ["invalid_request", "invalid_json", "invalid_device_token", "too_many_devices"],
    handle: async ({ tenant, actor, body }) => {
      const { token, platform, critical_alerts: criticalAlerts } = body;
      const report = { accountId: actor.accountId, token, platform, criticalAlerts };
      await registerDevice(tenant.devices, report);
      return { registered: true };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/devices/{token}",
    name: "removeDevice",
    tag: "Devices",
    summary: "Remove a device of the calling key's account",
    plane: "api",
    params: devicePath,
    status: 204,
    answer: z.undefined(),
    errors: ["not_found"],
    handle: async ({ tenant, actor, params }) => {
      if (!(await tenant.devices.remove(actor.accountId, params.token))) throw notFound("device");
      return undefined;
    },
  }),
];
