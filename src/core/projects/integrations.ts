import { and, asc, eq, ne, sql } from "drizzle-orm";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { integrations, projects } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { OFF_BY } from "../../out/outbox/channel-health.ts";
import {
  findIntegration,
  type IntegrationRow,
  type OutboxEntry,
} from "../../out/outbox/destination.ts";
import { dropDeliveries, resumeDeliveries } from "../../out/outbox/rows.ts";
import type { Channel } from "../../out/services/channel.ts";
import { mustBeBelowLimit } from "./bounds.ts";
import { type Integration, USUAL_STORM } from "./integration.ts";
import {
  type CredentialInput,
  checkComplete,
  checkGiven,
  checkTexts,
  type Guard,
  given,
  shownUrl,
  type TextInput,
} from "./integration-input.ts";
import { resealed, sealedOf } from "./integration-secrets.ts";
import { changeConfig, type Project } from "./projects.ts";
import { type SharingInput, share, sharingOf } from "./sharing.ts";

export interface IntegrationWrite {
  credentials: CredentialInput;
  name?: string | undefined;
  /** Empty = every kind. */
  events?: readonly string[] | undefined;
  /** Its own texts. */
  texts?: TextInput;
  /** Only for rooms. */
  stormThreshold?: number | undefined;
  /** Which other projects it hears of. */
  sharing?: SharingInput;
}

const columns = {
  id: integrations.id,
  name: integrations.name,
  type: integrations.type,
  url: integrations.url,
  enabled: integrations.enabled,
  event_filter: integrations.eventFilter,
  consecutive_failures: integrations.consecutiveFailures,
  last_error: integrations.lastError,
  created_at: integrations.createdAt,
  title_template: integrations.titleTemplate,
  body_template: integrations.bodyTemplate,
  storm_threshold: integrations.stormThreshold,
  shared: integrations.shared,
  exceptProjects: integrations.exceptProjects,
};

/** By age. `type` picks the rows of one type: webhooks are a view of the same table (contract §13). */
export function listIntegrations(reader: Reader, project: Project, type?: string): Integration[] {
  return reader.orm
    .select(columns)
    .from(integrations)
    .where(
      and(
        eq(integrations.projectId, project.id),
        type === undefined ? undefined : eq(integrations.type, type),
      ),
    )
    .orderBy(asc(integrations.createdAt), asc(integrations.id))
    .all()
    .map((row) => shown(reader, row, project));
}

/** Throws 404. */
export function getIntegration(
  reader: Reader,
  project: Project,
  { id, type }: { id: string; type?: string | undefined },
): Integration {
  const row = reader.orm
    .select(columns)
    .from(integrations)
    .where(and(eq(integrations.id, id), eq(integrations.projectId, project.id)))
    .get();
  if (row === undefined) throw notFound("integration");
  if (type !== undefined && row.type !== type) throw notFound("webhook endpoint");
  return shown(reader, row, project);
}

/** Channels of other projects that hear of this one, too, by age. */
export function sharedWith(reader: Reader, project: Project): Integration[] {
  return reader.orm
    .select({ ...columns, home: projects.name })
    .from(integrations)
    .innerJoin(projects, eq(projects.id, integrations.projectId))
    .where(and(sql`${integrations.shared} = 1`, ne(integrations.projectId, project.id)))
    .orderBy(asc(integrations.createdAt), asc(integrations.id))
    .all()
    .filter(({ exceptProjects }) => !exceptProjects.includes(project.id))
    .map(({ home, ...row }) => shown(reader, row, { name: home }));
}

type Row = Omit<Integration, "project" | "storm_threshold" | "except"> & {
  storm_threshold: number | null;
  exceptProjects: number[];
};

function shown(
  reader: Reader,
  { storm_threshold, exceptProjects, ...row }: Row,
  project: { name: string },
): Integration {
  const room = storm_threshold === null ? {} : { storm_threshold };
  const sharing = sharingOf(reader, { shared: row.shared, exceptProjects });
  return { ...row, ...room, ...sharing, project: project.name };
}

/** The row as a sender needs it. Throws 404. */
export function mustFind(reader: Reader, project: Project, id: string): IntegrationRow {
  const row = findIntegration(reader, id);
  if (row === null || row.project_id !== project.id) throw notFound("integration");
  return row;
}

/**
 * Makes an integration. `secret` is the one that its requests are signed with, as given or minted: it is only
 * ever in this answer, and null for kinds that mint none. Throws 400, 422 missing_credential,
 * credential_not_allowed and too_many, 403 for an address that may not be called.
 */
export function createIntegration(tx: Tx, project: Project, { type, write, guard }: Wanted) {
  const { id, kind, credentials, isMinted, ...row } = checked(tx, { type, write, guard });
  mustBeBelowLimit(tx, "integrations", project.id);
  tx.orm
    .insert(integrations)
    .values({
      ...row,
      id,
      projectId: project.id,
      name: write.name ?? "",
      type,
      enabled: true,
      eventFilter: filterOf(write.events),
      relay: false,
      speaks: kind.bodyAsIs !== true,
      consecutiveFailures: 0,
      createdAt: tx.at,
    })
    .run();
  share(tx, { id, kind }, write.sharing ?? {});
  changeConfig(tx, project.id);
  const secret = kind.mint === undefined ? null : (credentials["secret"] ?? null);
  return { id, secret, isMinted, url: row.url };
}

/** An integration as it would be made, to be tried before it is: nothing is stored. Throws as `createIntegration` does. */
export function draftIntegration(reader: Reader, project: Project, wanted: Wanted): IntegrationRow {
  const { type, write } = wanted;
  const made = checked(reader, wanted);
  return {
    id: made.id,
    project_id: project.id,
    name: write.name ?? "",
    type,
    url: made.url,
    sealed: made.sealed,
    enabled: 1,
    relay: 0,
    consecutive_failures: 0,
    failing_since: null,
    last_error: null,
    worked_at: null,
    title_template: made.titleTemplate,
    body_template: made.bodyTemplate,
    storm_threshold: made.stormThreshold,
  };
}

interface Wanted {
  type: string;
  write: IntegrationWrite;
  guard: Guard;
}

/** What is wanted, checked and sealed under an id of its own. */
function checked(reader: Reader, { type, write, guard }: Wanted) {
  const kind = mustKnow(guard, type);
  const own = given(kind, write.credentials);
  checkGiven(kind, own, guard);
  checkComplete(kind, own);
  checkTexts(kind, write.texts ?? {});
  const id = hexId(reader.random);
  const minted = own["secret"] === undefined ? kind.mint?.(reader.random) : undefined;
  const credentials = minted === undefined ? own : { ...own, secret: minted };
  return {
    id,
    kind,
    credentials,
    isMinted: minted !== undefined,
    url: shownUrl(kind, credentials),
    sealed: sealedOf(kind, id, { credentials, guard }),
    stormThreshold: stormOf(kind, write, USUAL_STORM),
    titleTemplate: write.texts?.title_template ?? "",
    bodyTemplate: write.texts?.body_template ?? "",
  };
}

/**
 * Changes what is given: a blank credential and whatever is left out keep what is stored (contract §15,
 * Integrations). New credentials end a streak of failures. Throws 404, 409 for the relay's row, 400, 422, 403.
 */
export function changeIntegration(
  tx: Tx,
  project: Project,
  { id, write, guard }: { id: string; write: IntegrationWrite; guard: Guard },
): void {
  const row = mustFind(tx, project, id);
  mustBeOwn(row);
  const kind = mustKnow(guard, row.type);
  share(tx, { id, kind }, write.sharing ?? {});
  const credentials = given(kind, write.credentials, row.url);
  checkGiven(kind, credentials, guard);
  checkTexts(kind, write.texts ?? {});
  const { url, sealed } = resealed(kind, row, { credentials, guard });
  const before = getIntegration(tx, project, { id });
  const name = write.name ?? before.name;
  const filter = write.events === undefined ? before.event_filter : filterOf(write.events);
  const storm = stormOf(kind, write, before.storm_threshold);
  const elsewhere = url !== row.url || sealed !== row.sealed;
  const { title_template: title = before.title_template } = write.texts ?? {};
  const { body_template: body = before.body_template } = write.texts ?? {};
  const says = title !== before.title_template || body !== before.body_template;
  const isSame = name === before.name && filter === before.event_filter;
  if (!elsewhere && !says && isSame && storm === row.storm_threshold) return;
  const texts = { titleTemplate: title, bodyTemplate: body };
  set(tx, id, { name, eventFilter: filter, url, sealed, stormThreshold: storm, ...texts });
  if (elsewhere && row.enabled !== 0) startAfresh(tx, id);
  changeConfig(tx, project.id);
}

/**
 * Deletes it with its credentials; what waited for it is dropped, which `tell` writes into the history of each alert.
 * Throws 404, 409 for the relay's row.
 */
export function deleteIntegration(
  tx: Tx,
  project: Project,
  { id, tell }: { id: string; tell(tx: Tx, alertId: number, entry: OutboxEntry): void },
): void {
  const row = mustFind(tx, project, id);
  mustBeOwn(row);
  for (const { alertId, ...delivery } of dropDeliveries(tx, id)) {
    if (alertId === null) continue;
    const integration = row.name === "" ? id : row.name;
    const error = "the channel was deleted";
    const detail = { integration, type: row.type, ...delivery, error };
    tell(tx, alertId, { kind: "delivery_dropped", detail });
  }
  tx.orm.delete(integrations).where(eq(integrations.id, id)).run();
  tx.note({ topic: "endpoint", id });
  changeConfig(tx, project.id);
}

/**
 * Enables (which also ends a streak of failures and sends what waited, in order) or disables (which
 * keeps everything). `by`: the account that does it; the operator unless given. Throws 404.
 */
export function setIntegrationEnabled(
  tx: Tx,
  project: Project,
  { id, enabled, by = OFF_BY.operator }: { id: string; enabled: boolean; by?: string },
): void {
  const row = mustFind(tx, project, id);
  if (enabled) {
    startAfresh(tx, id);
    set(tx, id, { offAt: null, offBy: null });
  }
  // Somebody decided it: the breaker is no longer what keeps it shut.
  else set(tx, id, { failingSince: null, offBy: by, ...(row.enabled && { offAt: tx.at }) });
  if ((row.enabled !== 0) === enabled) return;
  set(tx, id, { enabled });
  tx.note({ topic: "endpoint", id });
  changeConfig(tx, project.id);
}

function set(tx: Tx, id: string, to: Partial<typeof integrations.$inferInsert>): void {
  tx.orm.update(integrations).set(to).where(eq(integrations.id, id)).run();
}

function startAfresh(tx: Tx, id: string): void {
  set(tx, id, { consecutiveFailures: 0, failingSince: null, lastError: null });
  resumeDeliveries(tx, id);
}

/** Throws 400 where a kind that is told of each alert is given one. */
function stormOf(
  kind: Channel,
  { stormThreshold: given }: IntegrationWrite,
  otherwise: number | undefined,
): number | null {
  if (kind.isChat) return given ?? otherwise ?? USUAL_STORM;
  if (given === undefined) return null;
  const reason = `is only for rooms that several people read: a ${kind.kind} channel gets each alert by itself`;
  throw invalid([{ field: "/storm_threshold", reason }]);
}

/** Throws 400 for a type that no kind of channel has. */
function mustKnow({ channels }: Guard, type: string): Channel {
  const kind = channels.find(type);
  if (kind === undefined)
    throw invalid([{ field: "/type", reason: "is no kind of channel that this program knows" }]);
  return kind;
}

/** The relay's rows are made and changed by configuring the relay (contract §7). */
function mustBeOwn(row: IntegrationRow): void {
  if (row.relay !== 0)
    throw new ServiceError(
      "managed_integration",
      "This channel belongs to the relay: here it can only be enabled and disabled. box relay set changes it.",
    );
}

function filterOf(events: readonly string[] | undefined): string {
  return [...new Set(events)].sort().join(",");
}
