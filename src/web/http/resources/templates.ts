import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import { text } from "../../../ground/kit/fields.ts";
import { templatesAnswer } from "../../../in/ingest/templates.ts";
import { projectPath, queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** What a project hears, and what of it nobody would be told of (contract §15, Log tail). */
export const templateRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/templates",
    name: "listTemplates",
    tag: "Log tail",
    summary:
      "The project's templates, the most frequent first, with when they came and which rules may take them",
    plane: "api",
    additive: true,
    params: projectPath,
    query: z.strictObject({
      q: text(200).optional().meta({ description: "Part of the text, in any case of letters." }),
      after: text(64).optional().meta({ description: "`next` of the page before." }),
      unmatched: z.literal("true").optional().meta({
        description: "Only those that no rule may take.",
      }),
      limit: queryInteger(1, 200).default(50),
    }),
    status: 200,
    answer: templatesAnswer,
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query: { unmatched, ...query } }) =>
      tenant.ingest.templates(getProject(tenant.store, params.id).id, {
        ...query,
        unmatched: unmatched !== undefined,
      }),
  }),
];
