import { ServiceError } from "./errors.ts";

/** The bounds of a JSON text, counted before it is parsed. */
interface JsonBounds {
  /** Levels of lists and objects inside each other. */
  deepest: number;
  /** Values of all lists and objects together. */
  values: number;
}

/** More than any request of the API or any configuration needs. */
const usual: JsonBounds = { deepest: 32, values: 100_000 };

/**
 * Parses JSON of at most 32 levels and 100,000 values. They are counted first: the parser would take 100,000 levels and
 * ten million values, and the code after it would crash. Throws ServiceError invalid_json, body_too_large.
 */
export function parseJson(text: string, values: number = usual.values): unknown {
  const excess = excessOf(text, { ...usual, values });
  if (excess === "values")
    throw new ServiceError("body_too_large", `The JSON has more than ${values} values.`);
  if (excess !== null)
    throw new ServiceError(
      "invalid_json",
      `The JSON is nested deeper than ${usual.deepest} levels.`,
    );
  try {
    return JSON.parse(text);
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/[^\x20-\x7e]/g, "?").slice(0, 120) : "";
    throw new ServiceError("invalid_json", `The body is no JSON: ${why}`);
  }
}

/** The bound that the text exceeds; null for none. One pass, no allocation. */
export function excessOf(text: string, { deepest, values }: JsonBounds): keyof JsonBounds | null {
  // Each value has a character before it, and most bodies have few brackets: both are quick to rule out.
  if (text.length <= values && !hasManyBrackets(text, deepest)) return null;
  let depth = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = endOfString(text, i + 1);
      continue;
    }
    const opens = c === 0x7b || c === 0x5b;
    if (opens && ++depth > deepest) return "deepest";
    if (c === 0x7d || c === 0x5d) depth--;
    if ((opens || c === 0x2c) && ++count > values) return "values";
  }
  return null;
}

/** Whether there are more opening brackets than levels. If not, the text can't be too deep. */
function hasManyBrackets(text: string, most: number): boolean {
  let n = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++n > most) return true;
    }
  }
  return false;
}

function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
