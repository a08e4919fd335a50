import * as z from "zod";
import { dropChannel, switchChannel } from "../../../core/alerts/switch-channel.ts";
import {
  type Integration,
  integrationEvents,
  webhookAnswer,
} from "../../../core/projects/integration.ts";
import { writeOf } from "../../../core/projects/integration-body.ts";
import {
  createIntegration,
  getIntegration,
  listIntegrations,
} from "../../../core/projects/integrations.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { boolean, text } from "../../../ground/kit/fields.ts";
import type { Tx } from "../../../ground/store/store.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const webhooks = routesIn(inProject, { at: "/webhooks", tag: "Webhooks" });

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
  webhooks.get("", {
    name: "listWebhooks",
    summary: "The project's webhook endpoints, by age",
    answer: z.object({ endpoints: z.array(webhookAnswer) }),
    read: (store, { project }) => ({
      endpoints: listIntegrations(store, project, "webhook").map(shown),
    }),
  }),
  webhooks.post("", {
    name: "createWebhook",
    summary: "Create a webhook endpoint",
    body: z.strictObject({
      url: text(2048, 1),
      secret: text(256).optional().meta({ description: "Minted when omitted." }),
      events: integrationEvents.optional(),
    }),
    reads: webhookAnswer,
    status: 201,
    answer: z.object({
      id: z.string(),
      secret: z.string().meta({ description: "Shown this once." }),
      url: z.string(),
    }),
    errors: ["address_refused", "too_many"],
    write: (tx, { tenant, project, body }) => {
      const { id, secret, url } = createIntegration(tx, project, {
        type: "webhook",
        write: writeOf(body),
        guard: tenant,
      });
      // A webhook always has one: it is minted where none was given.
      return { id, secret: secret ?? "", url };
    },
  }),
  webhooks.patch("/{wid}", {
    name: "setWebhookEnabled",
    summary: "Enable or disable a webhook endpoint",
    body: z.strictObject({ enabled: boolean }),
    reads: webhookAnswer,
    answer: z.object({ enabled: z.boolean() }),
    write: (tx, { actor, project, params: { wid: id }, body: { enabled } }) => {
      mustBeWebhook(tx, project, id);
      switchChannel(tx, project, { id, enabled, by: actor.accountId });
      return { enabled };
    },
  }),
  webhooks.delete("/{wid}", {
    name: "deleteWebhook",
    summary: "Delete a webhook endpoint; queued deliveries are dropped",
    errors: ["managed_integration"],
    write: (tx, { params, project }) => {
      mustBeWebhook(tx, project, params.wid);
      dropChannel(tx, project, params.wid);
    },
  }),
];
