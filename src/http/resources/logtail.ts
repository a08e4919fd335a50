import { z } from "zod";
import { logLine, readLogTail } from "../../ingest/logtail.ts";
import { text } from "../../kit/fields.ts";
import { getProject } from "../../projects/projects.ts";
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
    }),
    status: 200,
    answer: z.object({ messages: z.array(logLine) }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) => {
      const project = getProject(tenant.store, params.id);
      return {
        messages: readLogTail(tenant.store, project.id, {
          limit: query.limit ?? 50,
          ...(query.template === undefined || query.template === ""
            ? {}
            : { template: query.template }),
          rootOf: (id) => tenant.ingest.rootOf(project.id, id),
        }),
      };
    },
  }),
];
