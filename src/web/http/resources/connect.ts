import { z } from "zod";
import { connectBody, connectionAnswer, heardAnswer } from "../../../in/connect/connection.ts";
import { connectSender, firstHeardOf } from "../../../tenant/connect-sender.ts";
import { projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

const sourcePath = z.strictObject({ id: z.string(), name: z.string() });

/** Connecting senders (contract §23). */
export const connectRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/projects/{id}/connect",
    name: "connectSender",
    tag: "Sources",
    summary: "Connect a sender: its source, a rule where none would hear it, what to paste there",
    plane: "api",
    additive: true,
    params: projectPath,
    body: connectBody,
    status: 201,
    answer: connectionAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "name_taken", "too_many"],
    handle: ({ tenant, params, body: { retain_logs: retainLogs, ...body } }) =>
      connectSender(tenant, tenant.publicUrl, { project: params.id, retainLogs, ...body }),
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/sources/{name}/heard",
    name: "getSourceHeard",
    tag: "Sources",
    summary: "What became of the first event of a source since it was connected",
    plane: "api",
    additive: true,
    params: sourcePath,
    status: 200,
    answer: heardAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      heard: firstHeardOf(tenant, { project: params.id, source: params.name }),
    }),
  }),
];
