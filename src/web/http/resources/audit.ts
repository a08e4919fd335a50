import { auditAnswer, auditQuery, listAudit } from "../../../ground/audit/list.ts";
import { calledIn } from "../../../ground/audit/names.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const audit = routesIn(inTenant, { at: "/audit", tag: "Audit", additive: true, manager: true });

/** Who changed what (contract §28). */
export const auditRoutes: Route[] = [
  audit.get("", {
    name: "listAudit",
    summary:
      "Who changed what, newest first (go on with before until next is null: a page may be short); kept 400 days",
    query: auditQuery,
    answer: auditAnswer,
    read: (store, { query }) => {
      const { entries, next } = listAudit(store, query);
      return { entries, names: calledIn(store, entries), next };
    },
  }),
];
