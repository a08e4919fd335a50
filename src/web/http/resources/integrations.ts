import { z } from "zod";
import { writeLateTimeline } from "../../../core/alerts/timeline.ts";
import { integrationAnswer, integrationReadOnly } from "../../../core/projects/integration.ts";
import { integrationFields, writeOf } from "../../../core/projects/integration-body.ts";
import {
  changeIntegration,
  createIntegration,
  deleteIntegration,
  draftIntegration,
  getIntegration,
  listIntegrations,
  mustFind,
  sharedWith,
} from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { checkSignature, signatureCheck } from "../../../core/projects/signatures.ts";
import { notFound } from "../../../ground/kit/errors.ts";
import type { ChannelList } from "../../../out/services/list.ts";
import { channelsNow, guardOf } from "../../../tenant/channel-verbs.ts";
import { deleted, projectPath, updated } from "../fields.ts";
import { type Route, route } from "../route.ts";

const integrationPath = z.strictObject({ id: z.string(), iid: z.string() });

const trialAnswer = z.object({
  ok: z.boolean(),
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  error: z.string().nullable(),
  answer: z.string().meta({ description: "The first 512 characters, credentials masked." }),
});

const writeErrors = [
  ...(["invalid_request", "invalid_json", "address_refused", "not_found"] as const),
  ...(["missing_credential", "credential_not_allowed"] as const),
];

/** contract §15, Integrations; the webhook routes are a second view of the same rows. */
export const integrationRoutes = (channels: ChannelList): Route[] => {
  const answer = integrationAnswer(channels);
  const writeFields = integrationFields(channels);
  return [
    route({
      method: "GET",
      path: "/v1/projects/{id}/integrations",
      name: "listIntegrations",
      tag: "Integrations",
      summary: "The project's delivery channels, by age",
      plane: "api",
      params: projectPath,
      query: z.strictObject({
        shared: z.literal("true").optional().meta({
          description: "Additive: those of other projects that hear of this one follow.",
        }),
      }),
      status: 200,
      answer: z.object({ integrations: z.array(answer) }),
      errors: ["not_found"],
      handle: async ({ tenant, actor, params, query }) => {
        const project = getProject(tenant.store, params.id);
        const own = listIntegrations(tenant.store, project);
        const rows = query.shared ? [...own, ...sharedWith(tenant.store, project)] : own;
        return { integrations: await channelsNow(tenant, actor.accountId, rows) };
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
      body: z.strictObject({ type: channels.type, ...writeFields }),
      readOnly: integrationReadOnly,
      status: 201,
      answer: z.object({
        id: z.string(),
        secret: z
          .string()
          .optional()
          .meta({ description: "A webhook's, minted: shown this once." }),
      }),
      errors: [...writeErrors, "too_many"],
      handle: ({ tenant, params, body: { type, ...write } }) => {
        const made = tenant.store.write((tx) =>
          createIntegration(tx, getProject(tx, params.id), {
            type,
            write: writeOf(write),
            guard: guardOf(tenant),
          }),
        );
        return {
          id: made.id,
          ...(made.isMinted && made.secret !== null && { secret: made.secret }),
        };
      },
    }),
    route({
      method: "POST",
      path: "/v1/projects/{id}/integrations/try",
      name: "tryIntegration",
      tag: "Integrations",
      summary:
        "Send one alert.test to a channel as it would be made, and say what came; nothing is stored. Ten a minute",
      plane: "api",
      additive: true,
      deed: true,
      params: projectPath,
      body: z.strictObject({ type: channels.type, ...writeFields }),
      readOnly: integrationReadOnly,
      status: 200,
      answer: trialAnswer,
      errors: [...writeErrors, "overloaded", "sender_unavailable"],
      handle: ({ tenant, actor, params, body: { type, ...write } }) => {
        const project = getProject(tenant.store, params.id);
        const wanted = { type, write: writeOf(write), guard: guardOf(tenant) };
        const row = draftIntegration(tenant.store, project, wanted);
        return tenant.outbox.testFire.trial(row, actor.keyId);
      },
    }),
    route({
      method: "POST",
      path: "/v1/projects/{id}/integrations/{iid}/check-signature",
      name: "checkSignature",
      tag: "Integrations",
      summary:
        "Whether a body was signed with the channel's stored secret, for who writes a receiver",
      plane: "api",
      additive: true,
      params: integrationPath,
      body: signatureCheck,
      bodyLimit: 512 * 1024,
      status: 200,
      answer: z.object({ ok: z.boolean(), reason: z.string().nullable() }),
      errors: ["invalid_request", "invalid_json", "not_found", "missing_credential"],
      handle: ({ tenant, params, body }) => {
        const { store, sealer } = tenant;
        const row = mustFind(store, getProject(store, params.id), params.iid);
        return checkSignature(sealer, row, body);
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
        const [shown] = await channelsNow(tenant, actor.accountId, [row]);
        if (shown === undefined) throw notFound("integration");
        return shown;
      },
    }),
    route({
      method: "PUT",
      path: "/v1/projects/{id}/integrations/{iid}",
      name: "updateIntegration",
      tag: "Integrations",
      summary:
        "Change a delivery channel; blank credentials and what is left out are kept, secrets at the same address alone",
      plane: "api",
      params: integrationPath,
      body: z.strictObject(writeFields),
      readOnly: [...integrationReadOnly, "type"],
      status: 200,
      answer: updated,
      errors: [...writeErrors, "managed_integration", "too_many"],
      handle: ({ tenant, params, body }) => {
        tenant.store.write((tx) =>
          changeIntegration(tx, getProject(tx, params.id), {
            id: params.iid,
            write: writeOf(body),
            guard: guardOf(tenant),
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
        const { id, iid } = params;
        const which = { id: iid, tell: writeLateTimeline };
        tenant.store.write((tx) => deleteIntegration(tx, getProject(tx, id), which));
        return { deleted: true };
      },
    }),
  ];
};
