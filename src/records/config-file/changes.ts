import { and, eq } from "drizzle-orm";
import { listActionRows } from "../../core/projects/actions.ts";
import { listLadders } from "../../core/projects/ladders.ts";
import type { Project } from "../../core/projects/projects.ts";
import { integrations } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { ChannelList } from "../../out/services/list.ts";
import { type Change, changeKinds, kindOf } from "./applied.ts";
import { standingMaintenance } from "./maintenance.ts";
import { readConfig } from "./read.ts";

/** Every part of a project as text, by kind and name, with a mark that shows whether its credentials change. */
type Snapshot = Map<string, string[]>;

const key = (kind: string, name: string) => `${kind} ${name}`;

export function snapshot(reader: Reader, project: Project, kinds: ChannelList): Snapshot {
  const config = readConfig(reader, project, kinds, { overrides: true });
  const parts: Snapshot = new Map();
  const add = (kind: string, name: string, text: string) => {
    const at = key(kind, name);
    parts.set(at, [...(parts.get(at) ?? []), text].sort());
  };
  const { actions: _sealed, integrations: _too, maintenance: _owned, ...rest } = config;
  const { imported_from: _never, imported: _from, ladders: _tenants, ...more } = rest;
  const { default_ladder: usual, ...plain } = more;
  if (typeof usual === "string") add("default_ladder", project.name, usual);
  for (const [many, list] of Object.entries(plain))
    for (const part of list ?? []) add(kindOf(many), part.name, JSON.stringify(part));
  for (const ladder of listLadders(reader)) add("ladder", ladder.name, JSON.stringify(ladder));
  // That a maintenance now belongs to the configuration is a change too.
  for (const { config, isOwned } of standingMaintenance(reader, project))
    add("maintenance", config.name, JSON.stringify([config, isOwned]));
  for (const kind of ["action", "integration"] as const)
    for (const { name, row } of rowsOf(reader, project, kind)) add(kind, name, row);
  return parts;
}

/** Sealed values are compared as stored: sealing the same value again gives another text. */
function rowsOf(reader: Reader, project: Project, kind: "action" | "integration") {
  const rows =
    kind === "action"
      ? listActionRows(reader, project).map(({ id: _id, createdAt: _made, ...row }) => row)
      : reader.orm
          .select({
            name: integrations.name,
            type: integrations.type,
            url: integrations.url,
            sealed: integrations.sealed,
            enabled: integrations.enabled,
            events: integrations.eventFilter,
            title: integrations.titleTemplate,
            body: integrations.bodyTemplate,
            storm: integrations.stormThreshold,
            shared: integrations.shared,
            except: integrations.exceptProjects,
          })
          .from(integrations)
          .where(and(eq(integrations.projectId, project.id), eq(integrations.relay, false)))
          .all();
  return rows.map((row) => ({ name: row.name, row: JSON.stringify(row) }));
}

export function changesBetween(
  before: Snapshot,
  after: Snapshot,
  renames: readonly { kind: string; from: string; to: string }[],
): Change[] {
  const old = new Map(before);
  const renamed = new Map(
    renames.map(({ kind, from, to }) => [key(kindOf(kind), to), { from, kind: kindOf(kind) }]),
  );
  // Channels may share a name: one that is still as it was isn't the renamed one.
  const isStill = (at: string) => (text: string) => after.get(at)?.includes(text) === true;
  for (const { kind, from } of renamed.values()) {
    const at = key(kind, from);
    before.set(at, (old.get(at) ?? []).filter(isStill(at)));
  }
  for (const [to, { kind, from }] of renamed) {
    const at = key(kind, from);
    const moved = (old.get(at) ?? []).filter((text) => !isStill(at)(text));
    before.set(to, [...(before.get(to) ?? []), ...moved]);
  }
  const changes = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((at) => {
    const [was, is] = [before.get(at) ?? [], after.get(at) ?? []];
    const created = is.filter((text) => !was.includes(text)).length;
    const gone = was.filter((text) => !is.includes(text)).length;
    const updated = Math.min(created, gone);
    return [
      ...repeat(at, "update", updated),
      ...repeat(at, "create", created - updated),
      ...repeat(at, "delete", gone - updated),
    ];
  });
  return changes.map((change) => {
    const was = renamed.get(key(change.kind, change.name))?.from;
    return was === undefined ? change : { ...change, was };
  });
}

function repeat(at: string, change: Change["change"], times: number): Change[] {
  const kind = changeKinds.find((one) => at.startsWith(`${one} `)) ?? "";
  return Array.from({ length: times }, () => ({ kind, name: at.slice(kind.length + 1), change }));
}
