import { dryRunAnswer, dryRunWrite } from "../../ingest/dry-run/dry-run.ts";
import { getProject } from "../../projects/projects.ts";
import { projectPath } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** contract §15, Rules: what a rule would do, before it does. */
export const tryingRoutes: Route[] = [
  route({
    method: "POST",
    path: "/v1/projects/{id}/rules/dry-run",
    name: "tryRule",
    tag: "Rules",
    summary:
      "What a rule would have opened on the kept lines of the past days; nothing is stored. One at a time; after some seconds it answers with what it has",
    plane: "api",
    additive: true,
    params: projectPath,
    body: dryRunWrite,
    people: ["rule.escalations.*.accounts.*"],
    bodyLimit: 512 * 1024,
    status: 200,
    answer: dryRunAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "overloaded"],
    handle: ({ tenant, params, body }) =>
      tenant.dryRuns.run(getProject(tenant.store, params.id).id, body),
  }),
];
