import { z } from "zod";
import { writeLateTimeline } from "../../../core/alerts/timeline.ts";
import {
  type Integration,
  integrationEvents,
  webhookAnswer,
  webhookReadOnly,
} from "../../../core/projects/integration.ts";
import { writeOf } from "../../../core/projects/integration-body.ts";
import {
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  setIntegrationEnabled,
} from "../../../core/projects/integrations.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import { boolean, text } from "../../../ground/kit/fields.ts";
import type { Tx } from "../../../ground/store/store.ts";
import { guardOf } from "../../../tenant/channel-verbs.ts";
import { deleted, projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

const webhookPath = z.strictObject({ id: z.string(), wid: z.string() });

function shown(row: Integration): z.output<typeof webhookAnswer> {
  const { name, type, title_template, body_template, shared, except, ...endpoint } = row;
  return endpoint;
}

/** Throws 404 for a row of another type: it is no webhook endpoint. */
function mustBeWebhook(tx: Tx, project: Project, id: string): void {
  getIntegration(tx, project, { id, type: "webhook" });
}

/** contract §15, Webhook endpoints: the webhook rows of the integrations. */
export const webhookRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/webhooks",
    name: "listWebhooks",
    tag: "Webhooks",
    summary: "The project's webhook endpoints, by age",
    plane: "api",
    params: projectPath,
    status: 200,
    answer: z.object({ endpoints: z.array(webhookAnswer) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => {
      const project = getProject(tenant.store, params.id);
      return { endpoints: listIntegrations(tenant.store, project, "webhook").map(shown) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/webhooks",
    name: "createWebhook",
    tag: "Webhooks",
    summary: "Create a webhook endpoint",
    plane: "api",
    params: projectPath,
    body: z.strictObject({
      url: text(2048, 1),
      secret: text(256).optional().meta({ description: "Minted when omitted." }),
      events: integrationEvents.optional(),
    }),
    readOnly: webhookReadOnly("url"),
    status: 201,
    answer: z.object({
      id: z.string(),
      secret: z.string().meta({ description: "Shown this once." }),
      url: z.string(),
    }),
    errors: ["invalid_request", "invalid_json", "address_refused", "not_found", "too_many"],
    handle: ({ tenant, params, body }) => {
      const { id, secret, url } = tenant.store.write((tx) =>
        createIntegration(tx, getProject(tx, params.id), {
          type: "webhook",
          write: writeOf(body),
          guard: guardOf(tenant),
        }),
      );
      // A webhook always has one: it is minted where none was given.
      return { id, secret: secret ?? "", url };
    },
  }),
  route({
    method: "PATCH",
    path: "/v1/projects/{id}/webhooks/{wid}",
    name: "setWebhookEnabled",
    tag: "Webhooks",
    summary: "Enable or disable a webhook endpoint",
    plane: "api",
    params: webhookPath,
    body: z.strictObject({ enabled: boolean }),
    readOnly: webhookReadOnly("enabled"),
    status: 200,
    answer: z.object({ enabled: z.boolean() }),
    errors: ["invalid_request", "invalid_json", "not_found"],
    handle: ({ tenant, actor, params, body: { enabled } }) => {
      tenant.store.write((tx) => {
        const project = getProject(tx, params.id);
        mustBeWebhook(tx, project, params.wid);
        setIntegrationEnabled(tx, project, { id: params.wid, enabled, by: actor.accountId });
      });
      return { enabled };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/projects/{id}/webhooks/{wid}",
    name: "deleteWebhook",
    tag: "Webhooks",
    summary: "Delete a webhook endpoint; queued deliveries are dropped",
    plane: "api",
    params: webhookPath,
    status: 200,
    answer: deleted,
    errors: ["not_found", "managed_integration"],
    handle: ({ tenant, params }) => {
      tenant.store.write((tx) => {
        const project = getProject(tx, params.id);
        mustBeWebhook(tx, project, params.wid);
        deleteIntegration(tx, project, { id: params.wid, tell: writeLateTimeline });
      });
      return { deleted: true };
    },
  }),
];
