import { logTailAnswer, logTailQuery, readLogTail } from "../../../in/ingest/logtail.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn } from "../scope.ts";

const lines = routesIn(inProject, { at: "/logtail", tag: "Log tail" });

/** contract §15, Log tail. */
export const logtailRoutes: Route[] = [
  lines.get("", {
    name: "readLogTail",
    summary: "The most recent retained events, newest last",
    query: logTailQuery,
    answer: logTailAnswer,
    handle: ({ tenant, query, project }) => {
      const rootOf = (id: string) => tenant.ingest.rootOf(project.id, id);
      return tenant.slices.run(readLogTail(tenant.store, project.id, { ...query, rootOf }));
    },
  }),
];
