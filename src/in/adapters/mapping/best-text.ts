import { excessOf } from "../../../ground/kit/json.ts";
import { isWebAddress } from "../../ingest/named-fields.ts";

/** Names of the field with the best one-line summary, best first; in any case, with or without `_` and `-`. */
const NAMES = (
  "message summary eventdefinitiontitle title subject alerttitle issuetitle incidenttitle eventtitle headline alertname " +
  "conditionname checkname rulename monitorname policyname text msg alert event description eventdescription " +
  "alertdescription shortdescription longdescription reason cause details detail info body content name displayname detailtype error"
).split(" ");
const RANKS = new Map(NAMES.map((name, i) => [name, i]));

/** How much of a body is read. */
const DEEPEST = 4;
const MOST = 500;
const MOST_JSON = 65_536;
const BOUNDS = { deepest: 16, values: 10_000 };
const LONGEST = 4096;

interface Found {
  text: string;
  rank: number;
}

/**
 * The text of an unknown body that best says what it is about: by its field name, else the shortest that reads like
 * words. Null where there is none.
 */
export function bestText(value: unknown): string | null {
  return best(value)?.text ?? null;
}

/** The same, only by the field name. */
export function namedText(value: unknown): string | null {
  const found = best(value);
  return found === null || found.rank >= NAMES.length ? null : found.text;
}

function best(value: unknown): Found | null {
  let best: Found | null = null;
  for (const found of textsOf(typeof value === "string" ? parsed(value) : value))
    if (best === null || found.rank < best.rank || isShorter(found, best)) best = found;
  return best;
}

const isShorter = (a: Found, b: Found): boolean =>
  a.rank === b.rank && a.rank >= NAMES.length && a.text.length < b.text.length;

/** Level by level, so that of two fields with one name the outer one comes first. */
function textsOf(root: unknown): Found[] {
  const found: Found[] = [];
  let row: unknown[] = [root];
  let left = MOST;
  for (let depth = 0; depth < DEEPEST && row.length > 0; depth++) {
    const next: unknown[] = [];
    for (const item of row) {
      if (typeof item !== "object" || item === null) continue;
      for (const name in item) {
        if (left-- <= 0) return found;
        const inner = (item as Record<string, unknown>)[name];
        if (typeof inner === "object") next.push(inner);
        else if (typeof inner === "string") note(found, Array.isArray(item) ? "" : name, inner);
      }
    }
    row = next;
  }
  return found;
}

function note(found: Found[], name: string, value: string): void {
  const text = value.slice(0, LONGEST).trim();
  const rank = RANKS.get(name.slice(0, 40).toLowerCase().replace(/[_-]/g, ""));
  if (!/\p{L}{2}/u.test(text) || isWebAddress(text)) return;
  if (rank !== undefined) found.push({ text, rank });
  else if (!/^\S*\d\S*$/.test(text))
    found.push({ text, rank: NAMES.length + (/\s/.test(text) ? 0 : 1) });
}

function parsed(text: string): unknown {
  try {
    return text.length > MOST_JSON || excessOf(text, BOUNDS) !== null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
