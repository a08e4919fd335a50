import { and, eq } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import { mustBeFewer, rowsCounted } from "../../ground/store/rows-counted.ts";
import {
  actions,
  integrations,
  ladders,
  projects,
  rules,
  schedules,
  sources,
} from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";

/** How many of each a tenant may have, and of the rest each project (contract §21). */
export const bounds = {
  projects: 1000,
  sources: 500,
  rules: 500,
  integrations: 100,
  actions: 100,
  schedules: 100,
  ladders: 200,
} as const;

/** Channels of a tenant that hear of other projects than their own: each alert of any project goes by all of them. */
export const MOST_SHARED = 200;

type Counted = keyof typeof bounds;

const tables = { projects, sources, rules, integrations, actions, schedules, ladders };

const ofTenant = ["projects", "ladders"] as const;
const isOfTenant = (what: Counted): what is (typeof ofTenant)[number] =>
  ofTenant.some((one) => one === what);

/** Throws 422 too_many where one more would pass the bound. What is there already stays. */
export function mustBeBelowLimit(reader: Reader, what: Counted, projectId?: number): void {
  const its = projectId === undefined ? undefined : itsOwn(what, projectId);
  const whose = isOfTenant(what) ? "A tenant" : "A project";
  mustBeFewer(rowsCounted(reader, tables[what], its), bounds[what], { whose, what });
}

/** Throws 422 too_many where one shared channel more would pass the bound. What is there already stays. */
export function mustBeBelowShareLimit(reader: Reader): void {
  const n = rowsCounted(reader, integrations, eq(integrations.shared, true));
  if (n < MOST_SHARED) return;
  throw new ServiceError("too_many", `A tenant has at most ${MOST_SHARED} shared channels.`, {
    details: [
      { field: "/shared", reason: `at most ${MOST_SHARED} shared channels`, value: String(n) },
    ],
  });
}

function itsOwn(what: Counted, projectId: number) {
  if (isOfTenant(what)) return undefined;
  const its = eq(tables[what].projectId, projectId);
  // The relay's own row is the box's, so it takes nobody's place.
  return what === "integrations" ? and(its, eq(integrations.relay, false)) : its;
}
