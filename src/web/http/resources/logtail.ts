import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { logLine, readLogTail } from "../../../in/ingest/logtail.ts";
import { queryInteger } from "../fields.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const lines = routesIn(inProject, { at: "/logtail", tag: "Log tail" });

/** contract §15, Log tail. */
export const logtailRoutes: Route[] = [
  lines.get("", {
    name: "readLogTail",
    summary: "The most recent retained events, newest last",
    query: z.strictObject({
      limit: queryInteger(1, 200).optional(),
      template: text(128).optional(),
      q: text(200).optional().meta({
        description: "What the message has in it, in any case of letters.",
      }),
      source: text(128).optional().meta({ description: "A source's name." }),
      level: queryInteger(0).optional().meta({ description: "The lowest." }),
      since: queryInteger(0).optional().meta({
        description: "A line's id. What came after it and isn't shown is counted.",
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
    handle: ({ tenant, query: { limit = 50, level, since, ...words }, project }) => {
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
