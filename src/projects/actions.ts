import { invalid, notFound, ServiceError } from "../kit/errors.ts";
import { checkHeaders } from "../kit/headers.ts";
import { hexId } from "../kit/ids.ts";
import { checkUrl } from "../kit/url.ts";
import { type ActionRow, findAction } from "../outbox/runs.ts";
import { sealPlace } from "../store/sealed.ts";
import type { Reader, Tx } from "../store/store.ts";
import {
  type Action,
  type ActionEvent,
  type ActionMethod,
  type ActionWrite,
  actionEvents,
  type ListedAction,
} from "./action.ts";
import { mustHaveRoom } from "./bounds.ts";
import type { Guard } from "./integration-input.ts";
import { changeConfig, type Project } from "./projects.ts";
import { mustBeUnnamed } from "./rules.ts";

interface Row {
  id: string;
  name: string;
  method: ActionMethod;
  url: string;
  header_keys: string;
  sealed_headers: string | null;
  sealed_body: string | null;
  enabled: number;
  event_filter: string;
  timeout_seconds: number;
  created_at: number;
}

const COLUMNS = `id, name, method, url, header_keys, sealed_headers, sealed_body, enabled, event_filter,
  timeout_seconds, created_at`;

/** By name; where headers or a body are stored, a dash shows it (api §2). */
export function listActions(reader: Reader, project: Project): ListedAction[] {
  const rows = reader
    .sql(`SELECT ${COLUMNS} FROM actions WHERE project_id = ? ORDER BY name`)
    .all(project.id) as Row[];
  return rows.map((row) => ({
    ...shown(row, project),
    ...(row.sealed_headers === null ? {} : { headers: "-" as const }),
    ...(row.sealed_body === null ? {} : { body: "-" as const }),
  }));
}

/** Throws 404. */
export function getAction(reader: Reader, project: Project, id: string): Action {
  return shown(find(reader, project, id), project);
}

/** The row as its sender needs it. Throws 404. */
export function getActionRow(reader: Reader, project: Project, id: string): ActionRow {
  const row = findAction(reader, id);
  if (row === null || row.project_id !== project.id) throw notFound("action");
  return row;
}

/** Throws 404 unless the action exists or has left executions, which stay readable (api §4, Actions). */
export function mustHaveRun(reader: Reader, project: Project, id: string): void {
  const known = reader
    .sql(
      `SELECT 1 FROM actions WHERE id = ? AND project_id = ?
       UNION ALL SELECT 1 FROM executions WHERE action_id = ? AND project_id = ? LIMIT 1`,
    )
    .get(id, project.id, id, project.id);
  if (known === undefined) throw notFound("action");
}

/** Returns the new action's id. Throws 400 for its headers, 403 for its address, 409 for a taken name, 422 for one too many. */
export function createAction(
  tx: Tx,
  project: Project,
  { write, guard }: { write: ActionWrite; guard: Guard },
): string {
  check(tx, project, { id: "", write, guard });
  mustHaveRoom(tx, "actions", project.id);
  const id = hexId(tx.random);
  const headers = sealedHeaders(id, write.headers ?? {}, guard);
  tx.sql(
    `INSERT INTO actions (${COLUMNS}, project_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    ...[id, write.name, write.method, write.url, headers.keys, headers.sealed],
    sealedBody(id, write.body ?? "", guard),
    ...[(write.enabled ?? true) ? 1 : 0, filterOf(write.events), write.timeout_seconds ?? 0],
    ...[tx.at, project.id],
  );
  changeConfig(tx, project.id);
  return id;
}

/**
 * Replaces the action; `enabled`, `headers` and `body` are kept where they are left out (api §4,
 * Actions). Throws 400, 403, 404, 409.
 */
export function replaceAction(
  tx: Tx,
  project: Project,
  { id, write, guard }: { id: string; write: ActionWrite; guard: Guard },
): void {
  const before = find(tx, project, id);
  check(tx, project, { id, write, guard });
  const headers =
    write.headers === undefined
      ? { keys: before.header_keys, sealed: before.sealed_headers }
      : keepSame(before, write.headers, guard);
  const after = {
    name: write.name,
    method: write.method,
    url: write.url,
    header_keys: headers.keys,
    sealed_headers: headers.sealed,
    sealed_body:
      write.body === undefined ? before.sealed_body : keepSameBody(before, write.body, guard),
    enabled: write.enabled === undefined ? before.enabled : write.enabled ? 1 : 0,
    event_filter: filterOf(write.events),
    timeout_seconds: write.timeout_seconds ?? 0,
  };
  const same = Object.entries(after).every(([key, value]) => before[key as keyof Row] === value);
  if (same) return;
  tx.sql(
    `UPDATE actions SET name = ?, method = ?, url = ?, header_keys = ?, sealed_headers = ?, sealed_body = ?,
       enabled = ?, event_filter = ?, timeout_seconds = ? WHERE id = ?`,
  ).run(...Object.values(after), id);
  changeConfig(tx, project.id);
}

/** Deletes the action; what it ran stays readable. Throws 404, 409 listing the rules that name it. */
export function deleteAction(tx: Tx, project: Project, id: string): void {
  find(tx, project, id);
  mustBeUnnamed(tx, project.id, {
    ...{ code: "action_in_use", what: "action" },
    names: (rule) => rule.actions?.includes(id) ?? false,
  });
  tx.sql("DELETE FROM actions WHERE id = ?").run(id);
  tx.note({ topic: "action", id });
  changeConfig(tx, project.id);
}

function check(
  reader: Reader,
  project: Project,
  { id, write, guard }: { id: string; write: ActionWrite; guard: Guard },
): void {
  const faults = checkHeaders(write.headers ?? {});
  if (faults.length > 0) throw invalid(faults);
  checkUrl(write.url, guard.rules);
  const taken = reader
    .sql("SELECT 1 FROM actions WHERE project_id = ? AND name = ? AND id <> ?")
    .get(project.id, write.name, id);
  if (taken !== undefined)
    throw new ServiceError("name_taken", "The project has an action of this name.");
}

interface Sealed {
  keys: string;
  sealed: string | null;
}

function sealedHeaders(
  id: string,
  headers: Readonly<Record<string, string>>,
  { sealer }: Guard,
): Sealed {
  const keys = Object.keys(headers);
  const place = sealPlace("actions", "sealed_headers", id);
  return {
    keys: JSON.stringify(keys),
    sealed: keys.length === 0 ? null : sealer.seal(JSON.stringify(headers), place),
  };
}

function sealedBody(id: string, body: string, { sealer }: Guard): string | null {
  return body === "" ? null : sealer.seal(body, sealPlace("actions", "sealed_body", id));
}

/** Sealing the same twice gives other bytes: what is stored stays, so that nothing seems changed. */
function keepSame(before: Row, headers: Readonly<Record<string, string>>, guard: Guard): Sealed {
  const { sealed_headers: sealed } = before;
  const place = sealPlace("actions", "sealed_headers", before.id);
  const text = sealed === null ? "{}" : guard.sealer.open(sealed, place);
  return text === JSON.stringify(headers)
    ? { keys: before.header_keys, sealed }
    : sealedHeaders(before.id, headers, guard);
}

function keepSameBody(before: Row, body: string, guard: Guard): string | null {
  const { sealed_body: sealed } = before;
  const place = sealPlace("actions", "sealed_body", before.id);
  const text = sealed === null ? "" : guard.sealer.open(sealed, place);
  return text === body ? sealed : sealedBody(before.id, body, guard);
}

function filterOf(events: readonly string[] = ["alert.opened"]): string {
  return [...new Set(events.length === 0 ? actionEvents : events)].sort().join(",");
}

function find(reader: Reader, project: Project, id: string): Row {
  const row = reader
    .sql(`SELECT ${COLUMNS} FROM actions WHERE id = ? AND project_id = ?`)
    .get(id, project.id);
  if (row === undefined) throw notFound("action");
  return row as Row;
}

function shown(row: Row, project: Project): Action {
  return {
    id: row.id,
    project: project.name,
    name: row.name,
    method: row.method,
    url: row.url,
    header_keys: JSON.parse(row.header_keys) as string[],
    has_body: row.sealed_body !== null,
    enabled: row.enabled !== 0,
    events: row.event_filter.split(",") as ActionEvent[],
    event_filter: row.event_filter,
    timeout_seconds: row.timeout_seconds,
    created_at: row.created_at,
  };
}
