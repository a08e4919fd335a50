import { asText, type JsonFields, objectsIn, timeOf } from "../json.ts";

const MOST_FRAMES = 1000;
const SHOWN = 50;
const NAMED = 3;

/** A frame as `function (module:line)`. */
function frameText(frame: JsonFields): string {
  const where = asText(frame["module"]) || asText(frame["filename"]);
  const line = asText(frame["lineno"]);
  return `${asText(frame["function"]) || "?"} (${where}${line === "" ? "" : `:${line}`})`;
}

/** Sentry lists the newest frame last. */
function newestFirst(stack: JsonFields | null): JsonFields[] {
  const frames = stack?.["frames"];
  return Array.isArray(frames) ? objectsIn(frames.slice(-MOST_FRAMES), MOST_FRAMES).reverse() : [];
}

/** A stack for reading: newest frame first, the program's own frames before its libraries'. */
export function stackText(stack: JsonFields | null): string {
  const frames = newestFirst(stack);
  const own = frames.filter((frame) => frame["in_app"] === true);
  const others = frames.filter((frame) => frame["in_app"] !== true);
  return [...own, ...others].slice(0, SHOWN).map(frameText).join("\n");
}

/** What identifies an error: the newest frames of the program's own code, without line numbers. */
export function stackWords(stack: JsonFields | null): string[] {
  const frames = newestFirst(stack);
  const own = frames.filter((frame) => frame["in_app"] === true);
  return (own.length > 0 ? own : frames)
    .slice(0, NAMED)
    .map((frame) => `${asText(frame["module"])}/${asText(frame["function"])}`);
}

/** Unix seconds of a number or an RFC 3339 text, which may lack its zone; null for none. */
export function sentrySeconds(value: unknown): number | null {
  if (typeof value === "number")
    return value > 0 && value < 100_000_000_000 ? Math.floor(value) : null;
  const seconds = timeOf(value);
  return seconds !== null && seconds > 0 ? seconds : null;
}
