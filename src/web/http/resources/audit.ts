import * as z from "zod";
import { auditEntry, listAudit } from "../../../ground/audit/list.ts";
import { calledIn } from "../../../ground/audit/names.ts";
import { text } from "../../../ground/kit/fields.ts";
import { queryInteger, queryLimit } from "../fields.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const audit = routesIn(inTenant, { at: "/audit", tag: "Audit", additive: true, manager: true });

/** Who changed what (contract §28). */
export const auditRoutes: Route[] = [
  audit.get("", {
    name: "listAudit",
    summary:
      "Who changed what, newest first (go on with before until next is null: a page may be short); kept 400 days",
    query: z.strictObject({
      before: queryInteger(0).optional().describe("`next` of the page before."),
      limit: queryLimit(500, 100),
      account: text(326)
        .optional()
        .meta({ description: "Who did it: an id, or an `email:` form." }),
      target: text(300).optional().meta({
        description: "A kind, or a kind and an id or name: rule, rule:7, rule:errors.",
      }),
      verb: text(64).optional().describe("What was done, as entries name it in `verb`."),
      since: queryInteger(0)
        .optional()
        .meta({ description: "Unix seconds: entries from then on." }),
      until: queryInteger(0).optional().meta({ description: "Unix seconds: entries before then." }),
    }),
    answer: z.object({
      entries: z.array(auditEntry),
      names: z.record(z.string(), z.string()).meta({
        description: "What the ids in the entries are called; one that is gone is left out.",
      }),
      next: z.string().nullable(),
    }),
    read: (store, { query }) => {
      const { entries, next } = listAudit(store, query);
      return { entries, names: calledIn(store, entries), next };
    },
  }),
];
