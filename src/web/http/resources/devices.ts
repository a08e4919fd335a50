import * as z from "zod";
import { notFound } from "../../../ground/kit/errors.ts";
import { deviceAnswer, deviceWrite, toDevice } from "../../../people/device.ts";
import { registerDevice } from "../../../people/devices.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const devices = routesIn(inTenant, { at: "/devices", tag: "Devices" });

export const devicesAnswer = z.object({ devices: z.array(deviceAnswer) });

export const devicePath = z.strictObject({ token: z.string() });

/** Devices of the calling key's account, not of its tenant (contract §15, Devices). */
export const deviceRoutes: Route[] = [
  devices.get("", {
    name: "listDevices",
    summary: "The devices of the calling key's account",
    answer: devicesAnswer,
    handle: async ({ tenant, actor }) => ({
      devices: (await tenant.devices.list(actor.accountId)).map(toDevice),
    }),
  }),
  devices.post("", {
    name: "registerDevice",
    summary: "Register a device, or report it anew: what was stored is overwritten",
    body: deviceWrite,
    reads: deviceAnswer,
    answer: z.object({ registered: z.boolean() }),
    errors: ["invalid_device_token", "too_many_devices"],
    handle: async ({ tenant, actor, body }) => {
      const { token, platform, critical_alerts: criticalAlerts } = body;
      const report = { accountId: actor.accountId, token, platform, criticalAlerts };
      await registerDevice(tenant.devices, report);
      return { registered: true };
    },
  }),
  devices.delete("/{token}", {
    name: "removeDevice",
    summary: "Remove a device of the calling key's account",
    status: 204,
    answer: z.undefined(),
    handle: async ({ tenant, actor, params }) => {
      if (!(await tenant.devices.remove(actor.accountId, params.token))) throw notFound("device");
      return undefined;
    },
  }),
];
