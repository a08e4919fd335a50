import { isDeepStrictEqual } from "node:util";
import { foldEmail } from "../../people/email.ts";
import type { KeptPart } from "./applied.ts";
import {
  type ConfigPart,
  type ImportedKind,
  type ImportedPart,
  importedKinds,
  type WrittenPart,
} from "./imported.ts";
import { contentHash, type NameMaps, translated, withKept } from "./merge-names.ts";
import type { OverrideConfig } from "./overrides.ts";
import type { ProjectConfig, ScheduleConfig } from "./shape.ts";

/** How the parts of an import are put into a project that people may have changed since the last import. Pure. */

/** A part of the import, and which it is here. */
export interface ImportPair {
  kind: ImportedKind;
  wanted: ConfigPart;
  /** Its name here before; null: it is new here. */
  was: string | null;
  /** The id of what an import made of it before; null: none did. */
  id: ImportedPart["id"] | null;
  /** How the last import wrote it. */
  written: WrittenPart | null;
  /** Its name here afterwards. */
  name: string;
}

const partsOf = (config: ProjectConfig, kind: ImportedKind): readonly ConfigPart[] =>
  config[kind] ?? [];

export function pairsOf(
  present: ProjectConfig,
  wanted: ProjectConfig,
  importedOf: (kind: ImportedKind) => readonly ImportedPart[],
): ImportPair[] {
  return importedKinds.flatMap((kind) => {
    const there = partsOf(present, kind);
    const marks = importedOf(kind);
    const pairs = partsOf(wanted, kind).map((part): ImportPair => {
      const mark = marks.find((one) => one.imported_from === part.imported_from);
      const named = there.find((one) => isNamesake(kind, one, part));
      const was = mark?.name ?? named?.name ?? null;
      const of = { id: mark?.id ?? null, written: mark?.written ?? null };
      return { kind, wanted: part, was, ...of, name: part.name };
    });
    return withNames(pairs, there);
  });
}

/**
 * Whether a part that no import made is taken for the import's. Of ladders only an equal one is: rules of the import page
 * nobody else because the tenant has one of the name.
 */
function isNamesake(kind: ImportedKind, one: ConfigPart, part: ConfigPart): boolean {
  const { imported_from, ...rest } = part;
  if (one.name !== part.name || one.imported_from !== undefined) return false;
  return kind !== "ladders" || isDeepStrictEqual(one, rest);
}

/** A part that a person renamed or made keeps its name. A new name that is taken gets a number. */
function withNames(pairs: readonly ImportPair[], there: readonly ConfigPart[]): ImportPair[] {
  const isFixed = ({ was, written, wanted }: ImportPair) =>
    was !== null && (written?.name !== was || wanted.name === was);
  const found = new Set(pairs.map(({ was }) => was));
  const taken = new Set(there.map(({ name }) => name).filter((name) => !found.has(name)));
  for (const pair of pairs) if (isFixed(pair)) taken.add(pair.was ?? "");
  return pairs.map((pair) => {
    if (isFixed(pair)) return { ...pair, name: pair.was ?? "" };
    let { name } = pair.wanted;
    for (let n = 2; taken.has(name); n += 1) name = `${pair.wanted.name} (${n})`;
    taken.add(name);
    return { ...pair, name };
  });
}

/** A pair that belongs to the import. `isTaken`: its content is the import's, not a person's. */
type TakenPair = ImportPair & { isTaken: boolean };

export type MergedParts = ReturnType<typeof mergedConfig>;

interface Around {
  /** The project after the renames. */
  present: ProjectConfig;
  /** Its name. */
  home: string;
  /** The system, as ids begin: `opsgenie`. */
  system: string;
  now: number;
}

/** The whole project after the import, with everything that the import doesn't have. */
export function mergedConfig(pairs: readonly ImportPair[], around: Around) {
  const { present, home, system } = around;
  const names = importNames(pairs, home);
  const keys = importKeys(pairs, around);
  const kept: KeptPart[] = [];
  const taken: TakenPair[] = [];
  const listOf = (kind: ImportedKind): ConfigPart[] => {
    const mine = pairs.filter((pair) => pair.kind === kind);
    const standing = new Set(mine.map((pair) => standingFor(pair, present)));
    const others = partsOf(present, kind).filter((one) => !standing.has(one));
    for (const { name, imported_from = "" } of others)
      if (imported_from.startsWith(`${system}:`)) kept.push({ kind, name, why: "vanished" });
    const merged = mine.map((pair) => {
      const { part, why } = mergedPart(pair, { ...around, names, keys });
      if (why !== null) kept.push({ kind, name: pair.name, why });
      if (why !== "made_here") taken.push({ ...pair, isTaken: why === null });
      return part;
    });
    return [...others, ...merged];
  };
  const lists = Object.fromEntries(importedKinds.map((kind) => [kind, listOf(kind)]));
  return { config: { ...present, ...lists }, kept, taken };
}

/** The part that the pair has here. Channels may share a name. */
function standingFor({ kind, was, id, name, wanted }: ImportPair, present: ProjectConfig) {
  if (was === null) return undefined;
  const from = id === null ? undefined : wanted.imported_from;
  return partsOf(present, kind).find((one) => one.name === name && one.imported_from === from);
}

function mergedPart(
  pair: ImportPair,
  { present, names, keys, now }: Around & { names: NameMaps; keys: NameMaps },
): { part: ConfigPart; why: "changed_here" | "made_here" | null } {
  const { kind, id, written } = pair;
  const wanted = { ...translated(pair.wanted, names), name: pair.name };
  const standing = standingFor(pair, present);
  if (standing === undefined) return { part: wanted, why: null };
  const is = contentHash(kind, standing, keys);
  const isSame = contentHash(kind, wanted, keys) === is;
  if (id === null && !isSame) return { part: standing, why: "made_here" };
  const isTaken = isSame || written?.hash === is;
  const content = isTaken ? withKept(wanted) : standing;
  const overrides =
    kind === "schedules" ? { overrides: overridesOf(pair, standing as ScheduleConfig, now) } : {};
  const part = { ...content, imported_from: pair.wanted.imported_from, ...overrides };
  // A ladder of the import names it from outside.
  if ("shared" in part) part.shared ||= (wanted as ScheduleConfig).shared;
  return { part, why: isTaken ? null : "changed_here" };
}

/** The import's overrides without those that a person took away, and after them those that a person made. */
function overridesOf(
  { wanted, written }: ImportPair,
  { overrides = [] }: ScheduleConfig,
  now: number,
) {
  const theirs = (wanted as ScheduleConfig).overrides ?? [];
  const before = written?.overrides ?? [];
  const standing = overrides.map(overrideKey);
  const isGone = (key: string) => before.includes(key) && !standing.includes(key);
  const hand = overrides.filter((one) => !before.includes(overrideKey(one)));
  return [
    ...theirs.filter((one) => one.ends_at <= now || !isGone(overrideKey(one))),
    ...hand.filter((one) => !theirs.some((other) => overrideKey(other) === overrideKey(one))),
  ];
}

export const overrideKey = ({ person, starts_at, ends_at }: OverrideConfig): string =>
  `${foldEmail(person)} ${starts_at} ${ends_at}`;

const NAMED = ["sources", "schedules", "ladders", "rules"] as const;

/** A part's name and what it is to be, and for a schedule also as ladders name it. */
const asNamed = (kind: ImportedKind, home: string, [name, to]: [string, string]) =>
  kind === "schedules"
    ? [[name, to] as const, [`${home}/${name}`, `${home}/${to}`] as const]
    : [[name, to] as const];

/** The names here of what the import names. `home`: its project's name. */
export const importNames = (pairs: readonly ImportPair[], home: string): NameMaps =>
  Object.fromEntries(
    NAMED.map((kind) => [
      kind,
      new Map(
        pairs
          .filter((one) => one.kind === kind)
          .flatMap(({ wanted, name }) => asNamed(kind, home, [wanted.name, name])),
      ),
    ]),
  );

/** The ids of parts by their names here: a rename doesn't change what names them. */
export function importKeys(
  pairs: readonly ImportPair[],
  { present, home }: Pick<Around, "present" | "home">,
): NameMaps {
  const idsOf = (kind: ImportedKind) => {
    const there = partsOf(present, kind).map(({ name, imported_from }) => [name, imported_from]);
    const mine = pairs
      .filter((one) => one.kind === kind)
      .map(({ name, wanted }) => [name, wanted.imported_from]);
    return [...there, ...mine]
      .filter((one): one is [string, string] => one[1] !== undefined)
      .flatMap((one) => asNamed(kind, home, one));
  };
  return Object.fromEntries(NAMED.map((kind) => [kind, new Map(idsOf(kind))]));
}
