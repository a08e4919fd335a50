import { z } from "zod";
import { notFound } from "../../../ground/kit/errors.ts";
import { deviceAnswer, deviceReadOnly, deviceWrite, toDevice } from "../../../people/device.ts";
import { registerDevice } from "../../../people/devices.ts";
import { type Route, route } from "../route.ts";

export const devicesAnswer = z.object({ devices: z.array(deviceAnswer) });

export const devicePath = z.strictObject({ token: z.string() });

/** Devices of the calling key's account, not of its tenant (contract §15, Devices). */
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
      devices: (await tenant.devices.list(actor.accountId)).map(toDevice),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/devices",
    name: "registerDevice",
    tag: "Devices",
    summary: "Register a device, or report it anew: what was stored is overwritten",
    plane: "api",
    body: deviceWrite,
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
