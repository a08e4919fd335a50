import { ServiceError } from "../kit/errors.ts";
import type { Reader } from "../store/store.ts";

/** How many of each a tenant may have, and of the rest each project (additions A11). */
export const bounds = {
  projects: 1000,
  sources: 500,
  rules: 500,
  integrations: 100,
  actions: 100,
  schedules: 100,
} as const;

type Counted = keyof typeof bounds;

/** The relay's own row is the box's, so it takes nobody's place. */
const COUNT: Record<Counted, string> = {
  projects: "SELECT count(*) FROM projects",
  sources: "SELECT count(*) FROM sources WHERE project_id = ?",
  rules: "SELECT count(*) FROM rules WHERE project_id = ?",
  integrations: "SELECT count(*) FROM integrations WHERE project_id = ? AND relay = 0",
  actions: "SELECT count(*) FROM actions WHERE project_id = ?",
  schedules: "SELECT count(*) FROM schedules WHERE project_id = ?",
};

/** Throws 422 too_many where one more would pass the bound. What is there already stays. */
export function mustHaveRoom(reader: Reader, what: Counted, projectId?: number): void {
  const count = reader
    .sql(COUNT[what])
    .pluck()
    .get(...(projectId === undefined ? [] : [projectId])) as number;
  if (count < bounds[what]) return;
  const owner = what === "projects" ? "tenant" : "project";
  throw new ServiceError("too_many", `A ${owner} has at most ${bounds[what]} ${what}.`, {
    details: [{ reason: `at most ${bounds[what]} ${what}`, value: String(count) }],
  });
}
