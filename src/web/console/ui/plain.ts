import { createHash } from "node:crypto";

/** Texts and lists in fields of one line. What such a field would lose or take for something else is written as JSON. */

/** Names of fields that hold JSON, as a form sends them. */
export const WRITTEN_AS_JSON = "json_field";

/** "web, app": what stands between the commas, without white space around it. */
export function splitList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** A list as one line; null where it wouldn't come back as it is. */
export function joinList(items: readonly string[]): string | null {
  const line = items.join(", ");
  const back = splitList(line);
  const isSame = back.length === items.length && back.every((item, i) => item === items[i]);
  return isSame && isOneLine(line) ? line : null;
}

/** Browsers drop line breaks of such a field. */
export function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text);
}

/** What a field holds that is written as JSON; the text itself where it is none, for the schema to refuse. */
export function readJsonField(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { not: "JSON" };
  }
}

/** "30" → 30; "" → undefined, so that the schema's default holds; anything else as it was typed, for the schema to refuse. */
export function readNumber(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Tells whether a text is still the one that was read. */
export const textDigest = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);

/** Without what nothing was typed for, so that the schema's defaults hold. */
export function withoutAbsent(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
