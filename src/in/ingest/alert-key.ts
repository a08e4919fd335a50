import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { IngestEvent } from "./event.ts";

/** A longer identifier text is hashed. */
const SHORT = 100;
/** Keys that are cached, so that the same text isn't hashed again. */
const REMEMBERED = 1000;

/** Makes the keys of one rule's alerts. */
export type KeyMaker = (templateId: string, keys: IngestEvent["keys"]) => string;

/**
 * Two matches belong to the same alert if rule, template root id and the values of the rule's identifier keys are equal
 * (contract §5). Each value is written with its length, so that values can't be confused.
 */
export function keyMaker(ruleId: number, identifierKeys: readonly string[]): KeyMaker {
  const remembered = new ForgetfulMap<string, string>(REMEMBERED);
  if (identifierKeys.length > 0) {
    return (templateId, keys) => {
      let text = "";
      for (const name of identifierKeys) {
        const value = keys?.[name] ?? "";
        text += `${value.length}=${value}`;
      }
      return `${keyPrefix(ruleId, templateId)}:${text.length <= SHORT ? text : sha256(text)}`;
    };
  }
  return (templateId) => {
    const known = remembered.get(templateId);
    if (known !== undefined) return known;
    const key = keyPrefix(ruleId, templateId);
    remembered.set(templateId, key);
    return key;
  };
}

/** The beginning of all keys of a rule and template, or the whole key; a colon follows if the rule has identifiers. */
export function keyPrefix(ruleId: number, templateId: string): string {
  return `${ruleId}:${templateId}`;
}

/** The same alert's key under another template id, after two templates were merged. */
export function rekey(key: string, ruleId: number, from: string, to: string): string {
  const prefix = keyPrefix(ruleId, from);
  return key === prefix || key.startsWith(`${prefix}:`)
    ? keyPrefix(ruleId, to) + key.slice(prefix.length)
    : key;
}

/** The identifiers that a key was made with, from its last part; empty where they were too long to be written there. */
export function identifiersIn(names: readonly string[], text: string): Record<string, string> {
  const values = identifiersOf(names, null);
  let rest = text;
  for (const name of names) {
    const length = /^(\d+)=/.exec(rest);
    if (length === null) break;
    const begins = length[0].length;
    const ends = begins + Number(length[1]);
    values[name] = rest.slice(begins, ends);
    rest = rest.slice(ends);
  }
  return values;
}

/** The values of a rule's identifier keys, in its order; a missing key is an empty string. */
export function identifiersOf(
  names: readonly string[],
  keys: IngestEvent["keys"],
): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const name of names) values[name] = keys?.[name] ?? "";
  return values;
}
