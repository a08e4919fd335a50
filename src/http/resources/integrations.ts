import { z } from "zod";
import { ServiceError } from "../../kit/errors.ts";
import { text } from "../../kit/fields.ts";
import { listDeliveries, resendDelivery } from "../../outbox/rows.ts";
import { integrationEvents, integrationType } from "../../projects/integration.ts";
import {
  changeIntegration,
  createIntegration,
  deleteIntegration,
  getIntegration,
  type Integration,
  listIntegrations,
  mustFind,
  setIntegrationEnabled,
} from "../../projects/integrations.ts";
import { getProject } from "../../projects/projects.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { deleted, projectPath, queryInteger, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const integrationPath = z.strictObject({ id: z.string(), iid: z.string() });

const writeFields = {
  name: text(128).optional(),
  events: integrationEvents.optional(),
  url: text(2048).optional().meta({ description: "webhook" }),
  secret: text(256).optional().meta({ description: "webhook; minted when absent" }),
  token: text(256).optional().meta({ description: "telegram: the bot's token" }),
  chat_id: text(128).optional().meta({ description: "telegram" }),
  webhook_url: text(2048).optional().meta({ description: "slack" }),
};
/** What both views of the row show. */
export const shownFields = {
  id: z.string(),
  project: z.string(),
  url: z.string(),
  enabled: z.boolean(),
  event_filter: z.string().meta({ description: "Kinds, comma-separated; empty = every kind." }),
  consecutive_failures: z.int(),
  last_error: z.string().nullable(),
  created_at: z.int(),
};
const answer = z
  .object({
    ...shownFields,
    name: z.string(),
    type: integrationType,
    device_count: z
      .int()
      .optional()
      .meta({ description: "apns: how many devices the calling key's account has." }),
  })
  .meta({ id: "Integration" });

const readOnly = [
  ...["id", "project", "enabled", "event_filter", "consecutive_failures", "last_error"],
  ...["created_at", "device_count"],
];
const writeErrors = [
  ...(["invalid_request", "invalid_json", "address_refused", "not_found"] as const),
  ...(["missing_credential", "credential_not_allowed"] as const),
];
const enabledAnswer = z.object({ enabled: z.boolean() });

const delivery = z
  .object({
    id: z.string(),
    alert_id: z.string().meta({ description: "Empty where no alert caused the event." }),
    event: z.string(),
    status: z.enum(["pending", "delivered", "failed", "dropped"]),
    attempts: z.int(),
    next_attempt_at: z.int().nullable(),
    last_error: z.string().nullable(),
    created_at: z.int(),
  })
  .meta({ id: "Delivery" });

/** With how many devices the caller's pushes would reach, counted now (contract §13, Integration). */
async function withDevices(
  tenant: Tenant,
  accountId: string,
  integrations: readonly Integration[],
): Promise<(Integration & { device_count?: number })[]> {
  if (integrations.every((row) => row.type !== "apns")) return [...integrations];
  const count = (await tenant.devices.list(accountId)).length;
  return integrations.map((row) => (row.type === "apns" ? { ...row, device_count: count } : row));
}

/** What a verb needs that writes addresses and secrets. */
export function guardOf({ sealer, addressRules }: Tenant) {
  return { sealer, rules: addressRules };
}

function enabling(name: "enable" | "disable", summary: string): Route {
  const enabled = name === "enable";
  return route({
    method: "POST",
    path: `/v1/projects/{id}/integrations/{iid}/${name}`,
    name: `${name}Integration`,
    tag: "Integrations",
    summary,
    plane: "api",
    params: integrationPath,
    status: 200,
    answer: enabledAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) =>
        setIntegrationEnabled(tx, getProject(tx, params.id), { id: params.iid, enabled }),
      );
      return { enabled };
    },
  });
}

/** contract §15, Integrations; the webhook routes are a second view of the same rows. */
export const integrationRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/integrations",
    name: "listIntegrations",
    tag: "Integrations",
    summary: "The project's delivery channels, by age",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ integrations: z.array(answer) }),
    errors: ["not_found"],
    handle: async ({ tenant, actor, params }) => {
      const rows = listIntegrations(tenant.store, getProject(tenant.store, params.id));
      return { integrations: await withDevices(tenant, actor.accountId, rows) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/integrations",
    name: "createIntegration",
    tag: "Integrations",
    summary: "Create a delivery channel",
    plane: "api",
    params: projectPath,
    body: z.strictObject({ type: integrationType, ...writeFields }),
    readOnly,
    status: 201,
    answer: z.object({
      id: z.string(),
      secret: z.string().optional().meta({ description: "A webhook's, minted: shown this once." }),
    }),
    errors: [...writeErrors, "too_many"],
    handle: ({ tenant, params, body: { type, ...write } }) => {
      const made = tenant.store.write((tx) =>
        createIntegration(tx, getProject(tx, params.id), { type, write, guard: guardOf(tenant) }),
      );
      const minted = type === "webhook" && !write.secret;
      return { id: made.id, ...(minted && made.secret !== null ? { secret: made.secret } : {}) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/integrations/{iid}",
    name: "getIntegration",
    tag: "Integrations",
    summary: "One delivery channel, without its credentials",
    plane: "api",
    params: integrationPath,
    status: 200,
    answer,
    errors: ["not_found"],
    handle: async ({ tenant, actor, params }) => {
      const project = getProject(tenant.store, params.id);
      const row = getIntegration(tenant.store, project, { id: params.iid });
      const [shown = row] = await withDevices(tenant, actor.accountId, [row]);
      return shown;
    },
  }),
  route({
    method: "PUT",
    path: "/v1/projects/{id}/integrations/{iid}",
    name: "updateIntegration",
    tag: "Integrations",
    summary: "Change a delivery channel; blank credentials and what is left out are kept",
    plane: "api",
    params: integrationPath,
    body: z.strictObject(writeFields),
    readOnly: [...readOnly, "type"],
    status: 200,
    answer: updated,
    errors: [...writeErrors, "managed_integration"],
    handle: ({ tenant, params, body }) => {
      tenant.store.write((tx) =>
        changeIntegration(tx, getProject(tx, params.id), {
          ...{ id: params.iid, write: body, guard: guardOf(tenant) },
        }),
      );
      return { updated: true };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/integrations/{iid}",
    name: "deleteIntegration",
    tag: "Integrations",
    summary: "Delete a delivery channel with its credentials; queued deliveries are dropped",
    plane: "api",
    params: integrationPath,
    status: 200,
    answer: deleted,
    errors: ["not_found", "managed_integration"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => deleteIntegration(tx, getProject(tx, params.id), params.iid));
      return { deleted: true };
    },
  }),
  enabling(
    "enable",
    "Enable a channel: its streak of failures ends, what waited goes out in order",
  ),
  enabling("disable", "Disable a channel; configuration and credentials stay"),
  route({
    method: "GET",
    path: "/v1/projects/{id}/integrations/{iid}/deliveries",
    name: "listDeliveries",
    tag: "Integrations",
    summary: "A channel's deliveries, newest first",
    plane: "api",
    params: integrationPath,
    query: z.strictObject({ limit: queryInteger(1, 200).default(50) }),
    status: 200,
    answer: z.object({ deliveries: z.array(delivery) }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) => {
      const { id } = mustFind(tenant.store, getProject(tenant.store, params.id), params.iid);
      return { deliveries: listDeliveries(tenant.store, id, query.limit) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/integrations/{iid}/deliveries/{did}/resend",
    name: "resendDelivery",
    tag: "Integrations",
    summary: "Send a delivery's event once more: same event id, same bytes",
    plane: "api",
    additive: true,
    params: z.strictObject({ id: z.string(), iid: z.string(), did: z.string() }),
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["not_found", "delivery_not_resendable", "integration_disabled"],
    handle: ({ tenant, params }) =>
      tenant.store.write((tx) => {
        const row = mustFind(tx, getProject(tx, params.id), params.iid);
        if (row.enabled === 0) throw disabled();
        return { id: resendDelivery(tx, row.id, params.did) };
      }),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/integrations/{iid}/test",
    name: "testIntegration",
    tag: "Integrations",
    summary: "Send a synthetic alert.test event at once, through the sender of real deliveries",
    plane: "api",
    params: integrationPath,
    status: 200,
    answer: z.object({ ok: z.boolean(), error: z.string().optional() }),
    errors: ["not_found", "integration_disabled", "overloaded", "sender_unavailable"],
    handle: ({ tenant, params }) =>
      tenant.outbox.testFire.integration(
        mustFind(tenant.store, getProject(tenant.store, params.id), params.iid),
      ),
  }),
];

function disabled(): ServiceError {
  return new ServiceError("integration_disabled", "The integration is disabled: enable it first.");
}
