import { and, asc, eq, ne } from "drizzle-orm";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { checkHeaders } from "../../ground/kit/headers.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { mustGiveAgain } from "../../ground/kit/sent-to.ts";
import { checkUrl } from "../../ground/kit/url.ts";
import { actions } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { hasExecutions } from "../../out/outbox/rows.ts";
import { type ActionRow, findAction } from "../../out/outbox/runs.ts";
import {
  type Action,
  type ActionEvent,
  type ActionReplace,
  type ActionWrite,
  actionEvents,
  type ListedAction,
} from "./action.ts";
import { mustBeBelowLimit } from "./bounds.ts";
import type { Guard } from "./integration-input.ts";
import { changeConfig, type Project } from "./projects.ts";
import { mustBeUnnamed } from "./rules.ts";

type Row = typeof actions.$inferSelect;

/** By name; where headers or a body are stored, a dash shows it (contract §13). */
export function listActions(reader: Reader, project: Project): ListedAction[] {
  return listActionRows(reader, project).map((row) => ({
    ...shown(row, project),
    ...(row.sealedHeaders === null ? {} : { headers: "-" as const }),
    ...(row.sealedBody === null ? {} : { body: "-" as const }),
  }));
}

/** The rows as they are stored, by name. */
export function listActionRows(reader: Reader, project: Project): Row[] {
  return reader.orm
    .select()
    .from(actions)
    .where(eq(actions.projectId, project.id))
    .orderBy(asc(actions.name))
    .all();
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

/** Throws 404 unless the action exists or has left executions, which stay readable (contract §15, Actions). */
export function mustHaveRun(reader: Reader, project: Project, id: string): void {
  const row = findAction(reader, id);
  if (row?.project_id === project.id || hasExecutions(reader, { projectId: project.id, id }))
    return;
  throw notFound("action");
}

/** Returns the new action's id. Throws 400 for its headers, 403 for its address, 409 for a taken name, 422 for one too many. */
export function createAction(
  tx: Tx,
  project: Project,
  { write, guard }: { write: ActionWrite; guard: Guard },
): string {
  check(tx, project, { id: "", write, guard });
  mustBeBelowLimit(tx, "actions", project.id);
  const id = hexId(tx.random);
  const headers = sealedHeaders(id, write.headers ?? {}, guard);
  tx.orm
    .insert(actions)
    .values({
      id,
      projectId: project.id,
      name: write.name,
      method: write.method,
      url: write.url,
      ...headers,
      sealedBody: sealedBody(id, write.body ?? "", guard),
      enabled: write.enabled ?? true,
      eventFilter: filterOf(write.events),
      timeoutSeconds: write.timeout_seconds ?? 0,
      createdAt: tx.at,
    })
    .run();
  changeConfig(tx, project.id);
  return id;
}

/**
 * Replaces the action; `enabled`, `headers` and `body` are kept where they are left out, or given as a list shows them
 * (contract §15, Actions). Throws 400, 403, 404, 409; 422 where headers or a body that are kept would go to another
 * server.
 */
export function replaceAction(
  tx: Tx,
  project: Project,
  { id, write: given, guard }: { id: string; write: ActionReplace; guard: Guard },
): void {
  const before = find(tx, project, id);
  const write: ActionWrite = {
    ...given,
    headers: given.headers === "-" ? undefined : given.headers,
    body: given.body === "-" && before.sealedBody !== null ? undefined : given.body,
  };
  check(tx, project, { id, write, guard });
  mustStayThere(before, write.url, [
    ...(write.headers === undefined && before.sealedHeaders !== null ? ["headers"] : []),
    ...(write.body === undefined && before.sealedBody !== null ? ["body"] : []),
  ]);
  const after = {
    name: write.name,
    method: write.method,
    url: write.url,
    ...(write.headers === undefined ? {} : keepSame(before, write.headers, guard)),
    ...(write.body === undefined ? {} : { sealedBody: keepSameBody(before, write.body, guard) }),
    ...(write.enabled === undefined ? {} : { enabled: write.enabled }),
    eventFilter: filterOf(write.events),
    timeoutSeconds: write.timeout_seconds ?? 0,
  };
  const same = Object.entries(after).every(([key, value]) => before[key as keyof Row] === value);
  if (same) return;
  tx.orm.update(actions).set(after).where(eq(actions.id, id)).run();
  changeConfig(tx, project.id);
}

/** Throws 422 naming what of `kept` was given for another server. Another path there is nothing new. */
export function mustStayThere(before: { url: string }, url: string, kept: readonly string[]): void {
  const where = (address: string) => ({
    url: URL.canParse(address) ? new URL(address).origin : address,
  });
  const stored = Object.fromEntries(kept.map((field) => [field, "kept"]));
  const sent = { where: ["url"], secrets: kept };
  mustGiveAgain(sent, { stored: { ...stored, ...where(before.url) }, given: where(url) });
}

/** Deletes the action; what it ran stays readable. Throws 404, 409 listing the rules that name it. */
export function deleteAction(tx: Tx, project: Project, id: string): void {
  find(tx, project, id);
  mustBeUnnamed(tx, project.id, {
    code: "action_in_use",
    what: "action",
    names: (rule) => rule.actions?.includes(id) ?? false,
  });
  tx.orm.delete(actions).where(eq(actions.id, id)).run();
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
  checkUrl(write.url, guard.addressRules);
  const taken = reader.orm
    .select({ id: actions.id })
    .from(actions)
    .where(and(eq(actions.projectId, project.id), eq(actions.name, write.name), ne(actions.id, id)))
    .get();
  if (taken !== undefined)
    throw new ServiceError("name_taken", "The project has an action of this name.");
}

type Sealed = Pick<Row, "headerKeys" | "sealedHeaders">;

function sealedHeaders(
  id: string,
  headers: Readonly<Record<string, string>>,
  { sealer }: Guard,
): Sealed {
  const keys = Object.keys(headers);
  const place = sealPlace("actions", "sealed_headers", id);
  return {
    headerKeys: JSON.stringify(keys),
    sealedHeaders: keys.length === 0 ? null : sealer.seal(JSON.stringify(headers), place),
  };
}

function sealedBody(id: string, body: string, { sealer }: Guard): string | null {
  return body === "" ? null : sealer.seal(body, sealPlace("actions", "sealed_body", id));
}

/** The headers as they are stored; none where there are none, or none that can be opened. */
export function storedHeaders(
  reader: Reader,
  id: string,
  { sealer }: Guard,
): Record<string, string> {
  const row = reader.orm
    .select({ sealed: actions.sealedHeaders })
    .from(actions)
    .where(eq(actions.id, id))
    .get();
  const place = sealPlace("actions", "sealed_headers", id);
  const text = row?.sealed ? sealer.open(row.sealed, place) : null;
  return text === null ? {} : (JSON.parse(text) as Record<string, string>);
}

/** Sealing the same twice gives other bytes: what is stored stays, so that nothing seems changed. */
function keepSame(before: Row, headers: Readonly<Record<string, string>>, guard: Guard): Sealed {
  const { headerKeys, sealedHeaders: sealed } = before;
  const place = sealPlace("actions", "sealed_headers", before.id);
  const text = sealed === null ? "{}" : guard.sealer.open(sealed, place);
  return text === JSON.stringify(headers)
    ? { headerKeys, sealedHeaders: sealed }
    : sealedHeaders(before.id, headers, guard);
}

function keepSameBody(before: Row, body: string, guard: Guard): string | null {
  const { sealedBody: sealed } = before;
  const place = sealPlace("actions", "sealed_body", before.id);
  const text = sealed === null ? "" : guard.sealer.open(sealed, place);
  return text === body ? sealed : sealedBody(before.id, body, guard);
}

function filterOf(events: readonly string[] = ["alert.opened"]): string {
  return [...new Set(events.length === 0 ? actionEvents : events)].sort().join(",");
}

function find(reader: Reader, project: Project, id: string): Row {
  const row = reader.orm
    .select()
    .from(actions)
    .where(and(eq(actions.id, id), eq(actions.projectId, project.id)))
    .get();
  if (row === undefined) throw notFound("action");
  return row;
}

function shown(row: Row, project: Project): Action {
  return {
    id: row.id,
    project: project.name,
    name: row.name,
    method: row.method,
    url: row.url,
    header_keys: JSON.parse(row.headerKeys) as string[],
    has_body: row.sealedBody !== null,
    enabled: row.enabled,
    events: row.eventFilter.split(",") as ActionEvent[],
    event_filter: row.eventFilter,
    timeout_seconds: row.timeoutSeconds,
    created_at: row.createdAt,
  };
}
