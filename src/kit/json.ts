import { ServiceError } from "./errors.ts";

const DEEPEST = 32;

/**
 * Parses JSON of at most 32 levels. The depth is counted first: a parser takes 100,000 levels
 * happily and the code after it dies of them. Throws ServiceError invalid_json.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text))
    throw new ServiceError("invalid_json", `The JSON is nested deeper than ${DEEPEST} levels.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/[^\x20-\x7e]/g, "?").slice(0, 120) : "";
    throw new ServiceError("invalid_json", `The body is no JSON: ${why}`);
  }
}

/** Whether brackets outside strings nest deeper than `most`. One pass, no allocation. */
export function isTooDeep(text: string, most = DEEPEST): boolean {
  if (!hasManyBrackets(text, most)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = endOfString(text, i + 1);
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > most) return true;
    } else if (c === 0x7d || c === 0x5d) {
      depth--;
    }
  }
  return false;
}

/** More opening brackets than levels: without them nothing can be too deep, and most bodies have three. */
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
