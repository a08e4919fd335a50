import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { logLine, readLogTail } from "../../../in/ingest/logtail.ts";
import { queryInteger, queryLimit } from "../fields.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const lines = routesIn(inProject, { at: "/logtail", tag: "Log tail" });

/** contract §15, Log tail. */
export const logtailRoutes: Route[] = [
  lines.get("", {
    name: "readLogTail",
    summary: "The most recent retained events, newest last",
    query: z.strictObject({
      limit: queryLimit(200, 50),
      template: text(128).optional().describe("Id of a template."),
      q: text(200).optional().meta({
        description: "Text in the message, in upper or lower case.",
      }),
      source: text(128).optional().meta({ description: "Name of a source." }),
      level: queryInteger(0).optional().meta({ description: "This level and above." }),
      since: queryInteger(0).optional().meta({
        description: "Id of a line. How many later lines are not shown is counted in `left_out`.",
      }),
    }),
    answer: z.object({
      messages: z.array(logLine),
      complete: z.boolean().meta({
        description:
          "False where it ended, because very many lines aren't as asked, before enough were found.",
      }),
      left_out: z.int().meta({
        description:
          "With `since`, how many lines as asked came after it and before these; of the newest 50,000.",
      }),
    }),
    handle: ({ tenant, query: { limit, level, since, ...words }, project }) => {
      const given = Object.entries(words).filter(
        ([, value]) => value !== undefined && value !== "",
      );
      const tail = readLogTail(tenant.store, project.id, {
        limit,
        level,
        since,
        ...Object.fromEntries(given),
        rootOf: (id) => tenant.ingest.rootOf(project.id, id),
      });
      return tenant.slices.run(tail);
    },
  }),
];
