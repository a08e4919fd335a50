import { sha256 } from "../kit/ids.ts";
import type { IngestEvent } from "./event.ts";

/** Longest identifier text that is its own key; a longer one is hashed. */
const SHORT = 100;

/**
 * What makes two matches the same alert: the rule, the template's root id and the values of the rule's
 * identifier keys (decisions §5). The values are written in an encoding that can't be forged by a separator.
 */
export function alertKey(
  ruleId: number,
  templateId: string,
  identifiers: Readonly<Record<string, string>>,
): string {
  const values = Object.values(identifiers);
  const prefix = `${ruleId}:${templateId}`;
  if (values.length === 0) return prefix;
  const text = JSON.stringify(values);
  return `${prefix}:${text.length <= SHORT ? text : sha256(text)}`;
}

/** The same alert under another template id: where two templates turned out to be one. */
export function rekey(key: string, ruleId: number, from: string, to: string): string {
  const prefix = `${ruleId}:${from}`;
  return key === prefix || key.startsWith(`${prefix}:`)
    ? `${ruleId}:${to}${key.slice(prefix.length)}`
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
