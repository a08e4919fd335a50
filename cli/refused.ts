import type { ErrorDetail } from "../src/ground/kit/errors.ts";
import { CommandError } from "./exit.ts";
import type { Reply } from "./request.ts";
import { printable } from "./table.ts";

interface ErrorBody {
  code?: string;
  message: string;
  details?: ErrorDetail[];
}

/** A request that the box refused, with its message. */
export class RefusedError extends CommandError {
  readonly status: number;
  readonly code: string;
  /** The message without the fields. */
  readonly sentence: string;
  readonly details: readonly ErrorDetail[];

  /** `words` replace the box's message. */
  constructor({ status, text, retryAfter }: Reply, words = refusal(text)) {
    const error = errorOf(text);
    super(words + (retryAfter > 0 ? ` Try again in ${retryAfter} s.` : ""));
    this.status = status;
    this.code = error?.code ?? "";
    this.sentence = error?.message ?? text.slice(0, 200);
    this.details = error?.details ?? [];
  }
}

/** Parses a JSON answer. Throws CommandError where the answer isn't the box's: a proxy, a sign-in page. */
export function answered<T>(text: string): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as T;
  } catch {
    // Reported below.
  }
  throw new CommandError(foreign(text));
}

const foreign = (text: string): string =>
  `an answer that isn't a box's: ${printable(text.slice(0, 200)) || "nothing at all"}`;

/** The message and the fields of an error body, each once; else the start of the body. */
export function refusal(text: string): string {
  const error = errorOf(text);
  if (error === null) return foreign(text);
  const fields = (error.details ?? []).map(fieldText);
  // The message of a bad request repeats its first field.
  if (error.code !== "invalid_request" || fields.length === 0)
    return [error.message, ...fields].join("\n  ");
  return fields.length === 1 ? (fields[0] ?? "") : fields.join("\n     ");
}

/** `?limit` means the flag of the same name. A JSON pointer stays unchanged. */
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
