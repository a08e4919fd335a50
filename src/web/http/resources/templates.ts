import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { messageWhy, whyOf } from "../../../in/ingest/template/why.ts";
import { templateOfShapes, templatesAnswer } from "../../../in/ingest/templates.ts";
import { queryInteger, queryLimit } from "../fields.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const templates = routesIn(inProject, { at: "/templates", tag: "Log tail", additive: true });

/** What a project hears, and what of it nobody would be told of (contract §15, Log tail). */
export const templateRoutes: Route[] = [
  templates.get("", {
    name: "listTemplates",
    summary:
      "The project's templates, the most frequent first, with when they came and which rules may take them",
    query: z.strictObject({
      q: text(200)
        .optional()
        .meta({ description: "Part of the template's text, in upper or lower case." }),
      after: text(64).optional().meta({ description: "`next` of the page before." }),
      unmatched: z.literal("true").optional().meta({
        description: "Only templates that no rule can match.",
      }),
      new_since: queryInteger(0).optional().meta({
        description: "Unix seconds: only those that first came then or later.",
      }),
      limit: queryLimit(200, 50),
    }),
    answer: templatesAnswer,
    handle: ({ tenant, query: { unmatched, new_since, ...query }, project }) =>
      tenant.ingest.templates(project.id, {
        ...query,
        unmatched: unmatched !== undefined,
        newSince: new_since,
      }),
  }),
  templates.post("/why", {
    name: "explainTemplate",
    summary:
      "Which template a message has, and why each part of it varies; nothing is counted or kept",
    body: z.strictObject({ message: text(65_536) }),
    answer: messageWhy.extend({
      joins: z.object({ template_id: z.string(), template: z.string() }).nullable().meta({
        description:
          "The project's template, in which more may vary than in this message's own; null where no message of its shape is known.",
      }),
    }),
    handle({ tenant: { store }, body: { message }, project }) {
      const { ids, ...why } = whyOf(message);
      return { ...why, joins: templateOfShapes(store, project.id, ids) };
    },
  }),
];
