import type { Reader } from "../../ground/store/store.ts";

/** A channel that is off, or whose latest attempts or latest test failed. Times are Unix seconds. */
export interface FailingChannel {
  id: string;
  /** Empty where it was given none. */
  name: string;
  project: string;
  type: string;
  enabled: number;
  consecutive_failures: number;
  /** null: it doesn't fail, or that isn't what turned it off. */
  failing_since: number | null;
  last_error: string | null;
}

const AILING = `SELECT i.name, p.name AS project, i.id, i.type, i.enabled, i.consecutive_failures, i.failing_since, i.last_error
  FROM integrations i JOIN projects p ON p.id = i.project_id
  WHERE i.enabled = 0 OR i.consecutive_failures > 0 OR i.last_error IS NOT NULL ORDER BY p.name, i.name, i.id`;

/** By project and name. */
export function listAiling(reader: Reader): FailingChannel[] {
  return reader.sql<[], FailingChannel>(AILING).all();
}
