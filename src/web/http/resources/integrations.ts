import * as z from "zod";
import { dropChannel } from "../../../core/alerts/switch-channel.ts";
import { integrationAnswer } from "../../../core/projects/integration.ts";
import { integrationFields, writeOf } from "../../../core/projects/integration-body.ts";
import {
  changeIntegration,
  createIntegration,
  draftIntegration,
  getIntegration,
  listIntegrations,
  mustFind,
  sharedWith,
} from "../../../core/projects/integrations.ts";
import { checkSignature, signatureCheck } from "../../../core/projects/signatures.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import { trialAnswer } from "../../../out/outbox/test-fire.ts";
import type { ChannelList } from "../../../out/services/list.ts";
import { channelsNow } from "../../../tenant/channel-verbs.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const integrations = routesIn(inProject, { at: "/integrations", tag: "Integrations" });

/** contract §15, Integrations; the webhook routes are a second view of the same rows. */
export const integrationRoutes = (channels: ChannelList): Route[] => {
  const answer = integrationAnswer(channels);
  const writeFields = integrationFields(channels);
  return [
    integrations.get("", {
      name: "listIntegrations",
      summary: "The project's delivery channels, by age",
      query: z.strictObject({
        shared: z.literal("true").optional().meta({
          description: "Also the shared channels of other projects that get this project's alerts.",
        }),
      }),
      answer: z.object({ integrations: z.array(answer) }),
      handle: async ({ tenant, actor, query, project }) => {
        const own = listIntegrations(tenant.store, project);
        const rows = query.shared ? [...own, ...sharedWith(tenant.store, project)] : own;
        return { integrations: await channelsNow(tenant, actor.accountId, rows) };
      },
    }),
    integrations.post("", {
      name: "createIntegration",
      summary: "Create a delivery channel",
      body: z.strictObject({ type: channels.type, ...writeFields }),
      reads: answer,
      status: 201,
      answer: z.object({
        id: z.string(),
        secret: z
          .string()
          .optional()
          .meta({ description: "A webhook's, minted: shown this once." }),
      }),
      errors: ["address_refused", "missing_credential", "credential_not_allowed", "too_many"],
      write: (tx, { tenant, project, body: { type, ...write } }) => {
        const made = createIntegration(tx, project, {
          type,
          write: writeOf(write),
          guard: tenant,
        });
        return {
          id: made.id,
          ...(made.isMinted && made.secret !== null && { secret: made.secret }),
        };
      },
    }),
    integrations.post("/try", {
      name: "tryIntegration",
      summary:
        "Send one alert.test to a channel that isn't stored, and answer the result. Ten a minute",
      additive: true,
      auditAlways: true,
      body: z.strictObject({ type: channels.type, ...writeFields }),
      reads: answer,
      answer: trialAnswer,
      errors: [
        "address_refused",
        "missing_credential",
        "credential_not_allowed",
        "overloaded",
        "sender_unavailable",
      ],
      handle: ({ tenant, actor, body: { type, ...write }, project }) => {
        const wanted = { type, write: writeOf(write), guard: tenant };
        const row = draftIntegration(tenant.store, project, wanted);
        return tenant.outbox.testFire.trial(row, actor.keyId);
      },
    }),
    integrations.post("/{iid}/check-signature", {
      name: "checkSignature",
      summary:
        "Whether a body was signed with the channel's stored secret, for people who write a receiver",
      additive: true,
      body: signatureCheck,
      bodyLimit: 512 * 1024,
      answer: z.object({ ok: z.boolean(), reason: z.string().nullable() }),
      errors: ["missing_credential"],
      handle: ({ tenant, params, body, project }) => {
        const row = mustFind(tenant.store, project, params.iid);
        return checkSignature(tenant.sealer, row, body);
      },
    }),
    integrations.get("/{iid}", {
      name: "getIntegration",
      summary: "One delivery channel, without its credentials",
      answer,
      handle: async ({ tenant, actor, params, project }) => {
        const row = getIntegration(tenant.store, project, { id: params.iid });
        const [shown] = await channelsNow(tenant, actor.accountId, [row]);
        if (shown === undefined) throw notFound("integration");
        return shown;
      },
    }),
    integrations.put("/{iid}", {
      name: "updateIntegration",
      summary:
        "Change a channel. Fields that are left out and blank credentials keep their value. Secrets are kept only if the address stays the same",
      body: z.strictObject(writeFields),
      reads: answer,
      errors: [
        "address_refused",
        "missing_credential",
        "credential_not_allowed",
        "managed_integration",
        "too_many",
      ],
      write: (tx, { tenant, params, body, project }) =>
        changeIntegration(tx, project, {
          id: params.iid,
          write: writeOf(body),
          guard: tenant,
        }),
    }),
    integrations.delete("/{iid}", {
      name: "deleteIntegration",
      summary: "Delete a delivery channel with its credentials; queued deliveries are dropped",
      errors: ["managed_integration"],
      write: (tx, { params, project }) => dropChannel(tx, project, params.iid),
    }),
  ];
};
