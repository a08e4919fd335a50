import { excessOf } from "../../ground/kit/json.ts";
import { eventLimits } from "../ingest/event.ts";
import type { WatchedKeys } from "./adapter.ts";
import { asText, type JsonFields, objectOf } from "./json.ts";
import { levelOfWord } from "./levels.ts";

/** Reads a log line's own fields and level, from any sender (contract §23). */

/** The level of a line that names no severity. */
export const LINE_LEVEL = 200;

/** A level word counts only this near the beginning: further on it is part of the message. */
const BEGINNING = 64;
const WORD = /\b(FATAL|CRITICAL|ERROR|WARN(?:ING)?|INFO|DEBUG)\b/;
const LEVEL_NAMES = ["level", "severity", "lvl"];
const PAIR = /(?:^|\s)([A-Za-z_][\w.-]{0,99})=("(?:[^"\\]|\\.)*"|[^\s"]*)(?=\s|$)/g;
/** A longer line isn't parsed as JSON. */
const MOST_JSON = 262_144;
const BOUNDS = { deepest: 8, values: 10_000 };

/** The line as a JSON object; null where it is none. */
export function jsonOfLine(line: string): JsonFields | null {
  const mayBe = line.startsWith("{") && line.length <= MOST_JSON;
  if (!mayBe || excessOf(line, BOUNDS) !== null) return null;
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return null;
  }
}

const none: WatchedKeys = () => new Set();

/**
 * The `name=value` pairs of a line, quoted values without their quotes: as many as an event may have keys, one more,
 * and then those that rules use.
 */
export function pairsOfLine(line: string, watched = none): [string, string][] {
  const pairs: [string, string][] = [];
  for (const [, name = "", value = ""] of line.matchAll(PAIR)) {
    if (pairs.length <= eventLimits.keys) pairs.push([name, unquoted(value)]);
    else if (watched().size === 0) break;
    else if (watched().has(name)) pairs.push([name, unquoted(value)]);
  }
  return pairs;
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

/** The level of a word, or of a number in pino's scale (10 trace … 60 fatal); null for anything else. */
export function levelOfValue(value: unknown): number | null {
  const text = asText(value).trim();
  if (!/^[1-6]0$/.test(text)) return levelOfWord(text);
  return [100, 100, 200, 300, 400, 500][Number(text) / 10 - 1] ?? null;
}

/** The level that structured fields name. */
export function levelOfFields(fields: JsonFields | readonly [string, string][]): number | null {
  const named: JsonFields = Array.isArray(fields) ? Object.fromEntries(fields) : { ...fields };
  for (const name of LEVEL_NAMES) {
    const level = levelOfValue(named[name]);
    if (level !== null) return level;
  }
  return null;
}

/** The level in a line: from its JSON or logfmt `fields`, else from the first level word near its beginning. */
export function levelInText(
  line: string,
  fields: JsonFields | readonly [string, string][] = jsonOfLine(line) ?? pairsOfLine(line),
): number | null {
  const structured = levelOfFields(fields);
  if (structured !== null) return structured;
  const [, word = ""] = WORD.exec(line.slice(0, BEGINNING)) ?? [];
  return levelOfWord(word);
}
