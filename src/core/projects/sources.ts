import { isDeepStrictEqual } from "node:util";
import { and, asc, eq, type SQL } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { base62Secret, sha256 } from "../../ground/kit/ids.ts";
import type { NameScope } from "../../ground/store/columns.ts";
import { sourceKeys, sources } from "../../ground/store/schema.ts";
import type { Reader, Store, Tx } from "../../ground/store/store.ts";
import { mustBeBelowLimit } from "./bounds.ts";
import { changeConfig, findProject, type Project } from "./projects.ts";
import { mustBeUnnamed, renameInMatches, takesSource } from "./rules.ts";
import type { SourceAnswer, SourceOptions, SourceToken } from "./source.ts";

export interface Source {
  id: number;
  projectId: number;
  name: string;
  retainLogs: boolean;
  /** What it speaks: `events`, or an adapter's kind. */
  kind: string;
  /** Where the names that its sender gives alerts hold. */
  room: NameScope;
  /** How its lines are read, beside what their format says. */
  options: SourceOptions;
  /** What its sender signs with, sealed; null: its requests are not signed. */
  sealedSecret: string | null;
}

export function listSources(reader: Reader, project: Project): SourceAnswer[] {
  return reader.orm
    .select({
      created_at: sources.createdAt,
      name: sources.name,
      retain_logs: sources.retainLogs,
      kind: sources.kind,
      room: sources.room,
      options: sources.options,
      sealedSecret: sources.sealedSecret,
    })
    .from(sources)
    .where(eq(sources.projectId, project.id))
    .orderBy(asc(sources.name))
    .all()
    .map(({ sealedSecret, ...source }) => ({ ...source, signed: sealedSecret !== null }));
}

/** The source that a token opens, long or short or of an earlier tool, or null. */
export function findSource(reader: Reader, token: string): Source | null {
  const short = shortToken(token);
  const key = senderKeyHash(token);
  const keyed = key === null ? undefined : keyedBy(reader, key);
  if (keyed !== undefined) return sourceById(reader, keyed);
  return sourceWhere(
    reader,
    short === null ? eq(sources.tokenHash, sha256(token)) : eq(sources.shortHash, sha256(short)),
  );
}

export const sourceById = (reader: Reader, id: number): Source | null =>
  sourceWhere(reader, eq(sources.id, id));

function sourceWhere(reader: Reader, where: SQL): Source | null {
  const row = reader.orm
    .select({
      id: sources.id,
      projectId: sources.projectId,
      name: sources.name,
      retainLogs: sources.retainLogs,
      kind: sources.kind,
      room: sources.room,
      options: sources.options,
      sealedSecret: sources.sealedSecret,
    })
    .from(sources)
    .where(where)
    .get();
  return row ?? null;
}

/** The source of this name in the project of this name, or null. */
export function findSourceNamed(
  reader: Reader,
  { project, source }: { project: string; source: string },
): Source | null {
  const place = findProject(reader, project);
  const row = place === null ? undefined : find(reader, place, source);
  if (row === undefined) return null;
  const { tokenHash: _, shortHash: __, createdAt: ___, ...found } = row;
  return found;
}

/** As above, looked up again only after a change: for whoever asks with each request. */
export function followSource(
  store: Store,
  place: { project: string; source: string },
): () => Source | null {
  let known: { source: Source | null } | null = null;
  store.onCommit((notes) => {
    if (notes.some(({ topic }) => topic === "sources" || topic === "project-deleted")) known = null;
  });
  return () => {
    known ??= { source: findSourceNamed(store, place) };
    return known.source;
  };
}

/** A short token as it is hashed: 32 hex characters, sent so or as a UUID, in any case; null for other text. */
export function shortToken(text: string): string | null {
  const plain = text.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(plain) && /^[0-9a-fA-F-]{32,36}$/.test(text) ? plain : null;
}

/** The id of the source that a key of an earlier tool was given to. */
function keyedBy(reader: Reader, hash: string): number | undefined {
  const { sourceId } = sourceKeys;
  const row = reader.orm
    .select({ sourceId })
    .from(sourceKeys)
    .where(eq(sourceKeys.hash, hash))
    .get();
  return row?.sourceId;
}

/**
 * What a sender's key of an earlier tool is known by: 20 to 64 letters, digits and dashes; what has the form of a short
 * token as that. Null for other text.
 */
export function senderKeyHash(text: string): string | null {
  const short = shortToken(text);
  if (short !== null) return sha256(short);
  return /^[A-Za-z0-9-]{20,64}$/.test(text) ? sha256(text) : null;
}

/** Its tokens, and the columns that know them again. Only an adapter's senders need a short one. */
function mintTokens(tx: Tx, { tenantId, kind }: { tenantId: string; kind: string }) {
  const token = `pti_${tenantId}_${base62Secret(tx.random)}`;
  if (kind === EVENTS)
    return { shown: { token }, columns: { tokenHash: sha256(token), shortHash: null } };
  const short_token = tx.random.bytes(16).toString("hex");
  return {
    shown: { token, short_token },
    columns: { tokenHash: sha256(token), shortHash: sha256(short_token) },
  };
}

/** The kind of a source whose sender speaks the box's own format. */
export const EVENTS = "events";
/** The kind of the source that the events of a project's heartbeats come from. */
export const HEARTBEATS = "heartbeats";

/** Makes a source; its tokens are only ever in this answer. Throws 409, 422 for one too many. */
export function createSource(
  tx: Tx,
  project: Project,
  source: {
    tenantId: string;
    name: string;
    retainLogs: boolean;
    kind?: string;
    room?: NameScope;
    options?: SourceOptions | undefined;
  },
): SourceToken {
  const { name, retainLogs, kind = EVENTS, room = "project", options = {} } = source;
  if (find(tx, project, name) !== undefined) {
    throw new ServiceError("name_taken", "The project has a source of this name.");
  }
  mustBeBelowLimit(tx, "sources", project.id);
  const { shown, columns } = mintTokens(tx, { tenantId: source.tenantId, kind });
  tx.orm
    .insert(sources)
    .values({
      projectId: project.id,
      name,
      ...columns,
      retainLogs,
      createdAt: tx.at,
      kind,
      room,
      options,
    })
    .run();
  changed(tx, project);
  return { name, ...shown };
}

/** Changes what is given. Throws 404. */
export function changeSource(
  tx: Tx,
  project: Project,
  {
    name,
    ...given
  }: {
    name: string;
    retainLogs: boolean;
    room?: NameScope | undefined;
    options?: SourceOptions | undefined;
  },
): void {
  const source = getSource(tx, project, name);
  const { retainLogs, room, options } = source;
  const to = {
    retainLogs: given.retainLogs,
    room: given.room ?? room,
    options: given.options ?? options,
  };
  if (isDeepStrictEqual(to, { retainLogs, room, options })) return;
  tx.orm.update(sources).set(to).where(eq(sources.id, source.id)).run();
  changed(tx, project);
}

/** Renames; tokens keep working, and so do rules that name it. To its own name changes nothing. Throws 404, 409. */
export function renameSource(tx: Tx, project: Project, { from, to }: { from: string; to: string }) {
  const { id } = getSource(tx, project, from);
  if (from === to) return;
  if (find(tx, project, to) !== undefined)
    throw new ServiceError("name_taken", "The project has a source of this name.");
  tx.orm.update(sources).set({ name: to }).where(eq(sources.id, id)).run();
  renameInMatches(tx, project.id, { from, to });
  changed(tx, project);
}

/** Replaces the tokens; the previous ones are invalid with the commit. Throws 404. */
export function rotateToken(
  tx: Tx,
  project: Project,
  source: { tenantId: string; name: string },
): SourceToken {
  const { id, kind } = getSource(tx, project, source.name);
  const { shown, columns } = mintTokens(tx, { tenantId: source.tenantId, kind });
  tx.orm.update(sources).set(columns).where(eq(sources.id, id)).run();
  tx.note({ topic: "sources" });
  return { name: source.name, ...shown };
}

/** Throws 404, and 409 while a rule's match names it. */
export function deleteSource(tx: Tx, project: Project, name: string): void {
  const source = getSource(tx, project, name);
  mustBeUnnamed(tx, project.id, {
    code: "source_in_use",
    what: "source",
    names: (rule) => takesSource(rule, name),
  });
  tx.orm.delete(sources).where(eq(sources.id, source.id)).run();
  changed(tx, project);
}

function changed(tx: Tx, project: Project): void {
  changeConfig(tx, project.id);
  tx.note({ topic: "sources" });
}

function find(reader: Reader, project: Project, name: string) {
  return reader.orm
    .select()
    .from(sources)
    .where(and(eq(sources.projectId, project.id), eq(sources.name, name)))
    .get();
}

/** Throws 404. */
export function getSource(reader: Reader, project: Project, name: string) {
  const source = find(reader, project, name);
  if (source === undefined) throw notFound("source");
  return source;
}
