import * as z from "zod";
import { list, text } from "../../ground/kit/fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** From where an import made the parts of a project and its ladders, and how it wrote them. */

export const importedFrom = text(512, 1).optional().meta({
  description: "The thing of another system that an import made it of, `{system}:{id}`.",
});

/** The lists of a configuration whose parts remember it. */
export const importedKinds = [
  "sources",
  "schedules",
  "ladders",
  "rules",
  "heartbeats",
  "integrations",
] as const;
export type ImportedKind = (typeof importedKinds)[number];

/** An import of a part as a file has it, so that another box knows what the next import may change. */
export const importedConfig = z.strictObject({
  kind: z.enum(importedKinds),
  name: text(256),
  from: text(512, 1),
  as: z
    .strictObject({ name: text(256), hash: text(64), overrides: list(text(400), 1000).default([]) })
    .nullable()
    .default(null)
    .meta({ description: "As the import wrote it: what a person changed since then stays." }),
});
export type ImportedConfig = z.output<typeof importedConfig>;

/** As an import wrote a part. */
export interface WrittenPart {
  name: string;
  /** A hash of its content, without name and overrides. */
  hash: string;
  /** The keys of its overrides. */
  overrides: string[];
}

export interface ImportedPart {
  id: string | number;
  name: string;
  imported_from: string;
  /** null: by a file that an import didn't write. */
  written: WrittenPart | null;
}

interface Row {
  id: string | number;
  name: string;
  imported_from: string;
  imported_as: string | null;
}

const MARK: Readonly<Record<ImportedKind, string>> = {
  sources: "UPDATE sources SET imported_from = ?, imported_as = ? WHERE id = ?",
  schedules: "UPDATE schedules SET imported_from = ?, imported_as = ? WHERE id = ?",
  ladders: "UPDATE ladders SET imported_from = ?, imported_as = ? WHERE id = ?",
  rules: "UPDATE rules SET imported_from = ?, imported_as = ? WHERE id = ?",
  heartbeats: "UPDATE heartbeats SET imported_from = ?, imported_as = ? WHERE id = ?",
  integrations: "UPDATE integrations SET imported_from = ?, imported_as = ? WHERE id = ?",
};

/** A ladder is the tenant's: it remembers whose import made it. */
const homeOf = (kind: ImportedKind) => (kind === "ladders" ? "imported_in" : "project_id");

export function importedParts(
  reader: Reader,
  projectId: number,
  kind: ImportedKind,
): ImportedPart[] {
  const text = `SELECT id, name, imported_from, imported_as FROM ${kind} WHERE ${homeOf(kind)} = ? AND imported_from IS NOT NULL`;
  return reader
    .sql<[projectId: number], Row>(text)
    .all(projectId)
    .map(({ imported_as, ...row }) => ({
      ...row,
      written: imported_as === null ? null : (JSON.parse(imported_as) as WrittenPart),
    }));
}

/** The ladders that any import made, by row: from where. */
export function importedLadders(reader: Reader): Map<number, string> {
  const text = "SELECT id, imported_from AS origin FROM ladders WHERE imported_from IS NOT NULL";
  const rows = reader.sql<[], { id: number; origin: string }>(text).all();
  return new Map(rows.map(({ id, origin }) => [id, origin]));
}

/** The newest part with the name, if possible one that no import made; undefined where there is none. */
export function partId(
  reader: Reader,
  projectId: number,
  { kind, name }: { kind: ImportedKind; name: string },
): string | number | undefined {
  const isThere = kind === "ladders" ? "? IS NOT NULL" : "project_id = ?";
  const text = `SELECT id FROM ${kind} WHERE ${isThere} AND name = ? ORDER BY imported_from IS NOT NULL, created_at DESC`;
  return reader
    .sql<[projectId: number, name: string], string | number>(text)
    .pluck()
    .get(projectId, name);
}

export function markImported(
  tx: Tx,
  { projectId, kind }: { projectId: number; kind: ImportedKind },
  { id, imported_from, written }: Omit<ImportedPart, "name">,
): void {
  const as = written === null ? null : JSON.stringify(written);
  tx.sql<[from: string, as: string | null, id: string | number], never>(MARK[kind]).run(
    imported_from,
    as,
    id,
  );
  if (kind === "ladders") tx.sql<[number, string | number], never>(MARK_HOME).run(projectId, id);
}

const MARK_HOME = "UPDATE ladders SET imported_in = ? WHERE id = ?";

/** All that imports made of a project, sorted. `overrides`: with the keys of those that they wrote. */
export function readImported(
  reader: Reader,
  projectId: number,
  { overrides }: { overrides: boolean },
): ImportedConfig[] {
  return importedKinds.flatMap((kind) =>
    importedParts(reader, projectId, kind)
      .map(({ name, imported_from: from, written }) => ({
        kind,
        name,
        from,
        as: written && { ...written, overrides: overrides ? written.overrides : [] },
      }))
      .sort((a, b) => (a.from < b.from ? -1 : 1)),
  );
}

interface Linked extends Partial<Record<ImportedKind, readonly ConfigPart[] | undefined>> {
  imported?: readonly ImportedConfig[] | undefined;
}

/** A part of any kind. */
export interface ConfigPart {
  name: string;
  imported_from?: string | undefined;
}

/** Remembers what a file says that its parts come from, where no import has said it. */
export function linkImported(tx: Tx, projectId: number, config: Linked): void {
  for (const kind of importedKinds) {
    const known = new Map(
      importedParts(tx, projectId, kind).map((one) => [one.imported_from, one]),
    );
    const told = (config.imported ?? []).filter((one) => one.kind === kind);
    const parts = (config[kind] ?? []).flatMap(({ name, imported_from: from }) => {
      const as = told.find((one) => one.from === from)?.as ?? null;
      return from === undefined ? [] : [{ name, from, as }];
    });
    const taken = kind === "ladders" ? importedLadders(tx) : new Map<number, string>();
    for (const { name, from, as: written } of kind === "ladders" ? told : parts) {
      const mark = known.get(from);
      const id = mark?.id ?? partId(tx, projectId, { kind, name });
      const isSaid = mark === undefined ? taken.has(Number(id)) : mark.written || !written;
      if (id === undefined || isSaid) continue;
      markImported(tx, { projectId, kind }, { id, imported_from: from, written });
    }
  }
}
