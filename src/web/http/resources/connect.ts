import { connectBody, connectionAnswer, heardAnswer } from "../../../in/connect/connection.ts";
import { connectSender, firstHeardOf } from "../../../tenant/connect-sender.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const senders = routesIn(inProject, { tag: "Sources", additive: true });

/** Connecting senders (contract §23). */
export const connectRoutes: Route[] = [
  senders.post("/connect", {
    name: "connectSender",
    summary:
      "Connect a sender: make its source, and a rule if none would match; answers what to paste there",
    body: connectBody,
    status: 201,
    answer: connectionAnswer,
    errors: ["name_taken", "too_many"],
    handle: ({ tenant, params, body: { retain_logs: retainLogs, ...body } }) =>
      connectSender(tenant, tenant.publicUrl, { project: params.id, retainLogs, ...body }),
  }),
  senders.get("/sources/{name}/heard", {
    name: "getSourceHeard",
    summary: "What became of the first event of a source since it was connected",
    answer: heardAnswer,
    handle: ({ tenant, params }) => ({
      heard: firstHeardOf(tenant, { project: params.id, source: params.name }),
    }),
  }),
];
