import type { WatchedKeys } from "./adapter.ts";
import { asText, objectOf } from "./json.ts";
import { leavesCalled } from "./leaves.ts";

const DEPTH = 8;
const MOST = 128;
const JSON_CHARS = 4096;

/**
 * An object as pairs of a dotted path and a text: `last.ok`. Lists of plain values are joined with commas; other lists,
 * and values deeper than eight, are JSON; null is left out. Returns at most 129 pairs, so that `fitted` sees that some
 * are missing, and then those that rules use.
 */
export function flattened(value: unknown, watched: WatchedKeys, prefix = ""): [string, string][] {
  const pairs: [string, string][] = [];
  const add = (item: unknown, path: string, depth: number) => {
    if (item === null || item === undefined) return;
    const fields = objectOf(item);
    if (fields === null || depth === DEPTH) return void pairs.push([path, plainText(item)]);
    for (const name of Object.keys(fields)) {
      if (pairs.length > MOST) return;
      add(fields[name], path === "" ? name : `${path}.${name}`, depth + 1);
    }
  };
  add(value, prefix, 0);
  if (pairs.length <= MOST) return pairs;
  const before = prefix === "" ? "" : `${prefix}.`;
  for (const name of watched())
    if (name.startsWith(before))
      for (const { item } of leavesCalled(value, name.slice(before.length), DEPTH))
        if (item !== null && item !== undefined) pairs.push([name, plainText(item)]);
  return pairs;
}

/** What `flattened` calls by this name: `{"log": {"level"}}` or `{"log.level"}`. Empty for none. */
export function textAt(value: unknown, path: string): string {
  const fields = objectOf(value);
  if (fields === null) return "";
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const item = fields[path.slice(0, end)] ?? null;
    const isWhole = end === path.length && objectOf(item) === null;
    const text = isWhole ? plainText(item) : textAt(item, path.slice(end + 1));
    if (text !== "") return text;
  }
  return "";
}

function plainText(value: unknown): string {
  if (typeof value !== "object" || value === null) return asText(value);
  const isPlain = Array.isArray(value) && value.every((item) => typeof item !== "object");
  return isPlain ? value.map(asText).join(", ") : JSON.stringify(value).slice(0, JSON_CHARS);
}
