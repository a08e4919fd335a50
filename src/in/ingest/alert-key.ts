import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import type { IngestEvent } from "./event.ts";

/** Longest identifier text that is its own key; a longer one is hashed. */
const SHORT = 100;
/** Keys without identifiers that a maker remembers: the same text again costs a look-up and no hashing of it. */
const REMEMBERED = 1000;

/** Makes the keys of one rule's alerts. */
export type KeyMaker = (templateId: string, keys: IngestEvent["keys"]) => string;

/**
 * What makes two matches the same alert: the rule, the template's root id and the values of the rule's
 * identifier keys (contract §5). Each value is written behind its length, so that no value can pass for two.
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

/** What all keys of a rule and a template are or begin with; a colon follows where the rule has identifiers. */
export function keyPrefix(ruleId: number, templateId: string): string {
  return `${ruleId}:${templateId}`;
}

/** The same alert under another template id: where two templates turned out to be one. */
export function rekey(key: string, ruleId: number, from: string, to: string): string {
  const prefix = keyPrefix(ruleId, from);
  return key === prefix || key.startsWith(`${prefix}:`)
    ? keyPrefix(ruleId, to) + key.slice(prefix.length)
    : key;
}

/** The values of a rule's identifier keys, in its order; a missing key is the empty string. */
export function identifiersOf(
  names: readonly string[],
  keys: IngestEvent["keys"],
): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const name of names) values[name] = keys?.[name] ?? "";
  return values;
}
