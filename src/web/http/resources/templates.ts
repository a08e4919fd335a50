import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { messageWhy, whyOf } from "../../../in/ingest/template/why.ts";
import { templateOfShapes, templatesAnswer, templatesQuery } from "../../../in/ingest/templates.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const templates = routesIn(inProject, { at: "/templates", tag: "Log tail", additive: true });

/** The templates of a project, and which of them no rule would open an alert for (contract §15, Log tail). */
export const templateRoutes: Route[] = [
  templates.get("", {
    name: "listTemplates",
    summary:
      "The project's templates, the most frequent first, with when they came and which rules may match them",
    query: templatesQuery,
    answer: templatesAnswer,
    handle: ({ tenant, query, project }) => tenant.ingest.templates(project.id, query),
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
