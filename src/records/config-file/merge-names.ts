import { createHash } from "node:crypto";
import { foldEmail } from "../../people/email.ts";
import { compactProject } from "./compact.ts";
import type { ConfigPart, ImportedKind } from "./imported.ts";
import type { ProjectConfig } from "./shape.ts";

/** Parts of a configuration name each other. This changes those names, and compares parts whatever the names are. */

/** What to write in place of a name. */
export type NameMaps = Readonly<Record<string, ReadonlyMap<string, string>>>;

/** The fields that name other parts, by the kind of these. */
const NAMING: Readonly<Record<string, ImportedKind>> = {
  sources: "sources",
  source: "sources",
  schedules: "schedules",
  ladder: "ladders",
  rules: "rules",
  rule: "rules",
};

export function translated<T>(value: T, names: NameMaps): T {
  return changed(value, (key, text) => names[NAMING[key] ?? ""]?.get(text) ?? text) as T;
}

/** The value with its texts changed; `key`: the field that has the text, or the list of texts. */
function changed(value: unknown, to: (key: string, text: string) => string, key = ""): unknown {
  if (typeof value === "string") return to(key, value);
  if (Array.isArray(value)) return value.map((one) => changed(one, to, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, changed(one, to, name)]),
  );
}

const PEOPLE = ["participants", "accounts"];

/** A hash of a part's content: without its name, overrides, credentials and defaults. `keys`: ids in place of names. */
export function contentHash(kind: ImportedKind, part: ConfigPart, keys: NameMaps): string {
  const { name: _name, imported_from: _from, ...rest } = withKept(part);
  const content = changed(rest, (key, text) => (PEOPLE.includes(key) ? foldEmail(text) : text));
  const named = { ...(translated(content, keys) as object), name: "" };
  const none = { sources: [], schedules: [], actions: [], integrations: [], rules: [] };
  const compact = compactProject("", { ...none, [kind]: [named] } as ProjectConfig)[kind];
  const [{ overrides: _overrides, ...text }] = compact as [Record<string, unknown>];
  return createHash("sha256").update(JSON.stringify(text)).digest("hex");
}

/** The part without new credentials: the stored ones stay. */
export function withKept(part: ConfigPart): ConfigPart {
  const fields = Object.entries(part).map(([name, value]) => {
    const isSecret = typeof value === "object" && value !== null && "value" in value;
    return [name, isSecret ? "kept" : value];
  });
  return Object.fromEntries(fields);
}
