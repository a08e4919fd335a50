import * as z from "zod";
import { notFound } from "../../ground/kit/errors.ts";
import { onlyRead } from "../../ground/kit/field-kind.ts";
import { deviceAnswer, deviceWrite, toDevice } from "../../people/device.ts";
import { registerDevice } from "../../people/devices.ts";
import { devicePath, devicesAnswer } from "../../web/http/resources/devices.ts";
import { type Route, sessionRoute } from "../../web/http/route.ts";
import type { Devices } from "../registry/devices.ts";

export function accountDeviceRoutes(devices: Devices): Route[] {
  return [
    sessionRoute({
      method: "GET",
      path: "/v1/account/devices",
      name: "listAccountDevices",
      tag: "Devices",
      summary: "The devices of the session's account",
      status: 200,
      answer: devicesAnswer,
      errors: [],
      handle: async ({ account }) => ({
        devices: (await devices.list(account.id)).map(toDevice),
      }),
    }),
    sessionRoute({
      method: "POST",
      path: "/v1/account/devices",
      name: "registerAccountDevice",
      tag: "Devices",
      summary: "Register a device, or report it anew: what was stored is overwritten",
      body: deviceWrite,
      readOnly: onlyRead(deviceAnswer, deviceWrite),
      status: 200,
      answer: z.object({ registered: z.boolean() }),
      errors: ["invalid_request", "invalid_json", "invalid_device_token", "too_many_devices"],
      handle: async ({ account, body }) => {
        const { token, platform, critical_alerts: criticalAlerts } = body;
        await registerDevice(devices, { accountId: account.id, token, platform, criticalAlerts });
        return { registered: true };
      },
    }),
    sessionRoute({
      method: "DELETE",
      path: "/v1/account/devices/{token}",
      name: "removeAccountDevice",
      tag: "Devices",
      summary: "Remove a device of the session's account: the sign-out obligation",
      params: devicePath,
      status: 204,
      answer: z.undefined(),
      errors: ["not_found"],
      handle: async ({ account, params }) => {
        if (!(await devices.remove(account.id, params.token))) throw notFound("device");
        return undefined;
      },
    }),
  ];
}
