import type { ErrorDetail } from "../src/ground/kit/errors.ts";
import { CommandError } from "./exit.ts";
import type { Reply } from "./request.ts";
import { printable } from "./table.ts";

interface ErrorBody {
  code?: string;
  message: string;
  details?: ErrorDetail[];
}

/** What the box refused, with its own words. */
export class RefusedError extends CommandError {
  readonly status: number;
  readonly code: string;
  /** Without the fields. */
  readonly sentence: string;
  readonly details: readonly ErrorDetail[];

  /** `words`: what is said instead of the box's own sentence. */
  constructor({ status, text, retryAfter }: Reply, words = refusal(text)) {
    const error = errorOf(text);
    super(words + (retryAfter > 0 ? ` Try again in ${retryAfter} s.` : ""));
    this.status = status;
    this.code = error?.code ?? "";
    this.sentence = error?.message ?? text.slice(0, 200);
    this.details = error?.details ?? [];
  }
}

/** The JSON that a box answered. Throws CommandError for what something else did: a proxy, a page to sign in at, another program. */
export function answered<T>(text: string): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as T;
  } catch {
    // Said below.
  }
  throw new CommandError(foreign(text));
}

const foreign = (text: string): string =>
  `an answer that no box gives: ${printable(text.slice(0, 200)) || "nothing at all"}`;

/** The sentence and the fields of an error body, each once, or the start of whatever came instead. */
export function refusal(text: string): string {
  const error = errorOf(text);
  if (error === null) return foreign(text);
  const fields = (error.details ?? []).map(fieldText);
  // The sentence of a bad request is its first field again.
  if (error.code !== "invalid_request" || fields.length === 0)
    return [error.message, ...fields].join("\n  ");
  return fields.length === 1 ? (fields[0] ?? "") : fields.join("\n     ");
}

/** `?limit` is the flag of the same name; a JSON pointer stays what it is. */
function fieldText({ field = "", reason, value }: ErrorDetail): string {
  const where = field.startsWith("?") ? `--${field.slice(1)}` : field;
  const shown = value === undefined || value === "" ? "" : ` (${printable(value)})`;
  return `${where} ${reason}${shown}`.trim();
}

function errorOf(text: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(text) as { error: ErrorBody };
    return typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}
