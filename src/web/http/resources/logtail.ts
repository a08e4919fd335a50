import { z } from "zod";
import { getProject } from "../../../core/projects/projects.ts";
import { text } from "../../../ground/kit/fields.ts";
import { logLine, readLogTail } from "../../../in/ingest/logtail.ts";
import { projectPath, queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** contract §15, Log tail. */
export const logtailRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/projects/{id}/logtail",
    name: "readLogTail",
    tag: "Log tail",
    summary: "The most recent retained events, newest last",
    plane: "api",
    params: projectPath,
    query: z.strictObject({
      limit: queryInteger(1, 200).optional(),
      template: text(128).optional(),
      q: text(200).optional().meta({
        description: "Additive: what the message has in it, in any case of letters.",
      }),
      source: text(128).optional().meta({ description: "Additive: a source's name." }),
      level: queryInteger(0).optional().meta({ description: "Additive: the lowest." }),
    }),
    status: 200,
    answer: z.object({
      messages: z.array(logLine),
      complete: z.boolean().meta({
        description:
          "Additive: false where it ended, because very many lines aren't as asked, before enough were found.",
      }),
    }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query: { limit = 50, level, ...words } }) => {
      const project = getProject(tenant.store, params.id);
      const given = Object.entries(words).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      return readLogTail(tenant.store, project.id, {
        limit,
        level,
        ...Object.fromEntries(given),
        rootOf: (id) => tenant.ingest.rootOf(project.id, id),
      });
    },
  }),
];
