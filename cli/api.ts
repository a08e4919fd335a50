import type { ErrorDetail } from "../src/kit/errors.ts";
import { CommandError, exitCodes } from "./exit.ts";

export interface ApiOptions {
  url: string;
  key?: string;
  json?: boolean;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What the box refused, with its own words. */
export class RefusedError extends CommandError {
  readonly status: number;
  /** Without the fields. */
  readonly sentence: string;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, text: string) {
    super(`${status}: ${errorText(text)}`);
    const error = errorOf(text);
    this.status = status;
    this.sentence = error?.message ?? text.slice(0, 200);
    this.details = error?.details ?? [];
  }
}

/** Calls the box's API as the terminal's user. Throws CommandError with the box's own sentence. */
export async function callApi<T>(
  options: ApiOptions,
  method: Method,
  path: string,
  body?: unknown,
): Promise<T> {
  const text = await callApiText(options, method, path, body);
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** As `callApi`, for what isn't JSON. */
export async function callApiText(
  options: ApiOptions,
  method: Method,
  path: string,
  body?: unknown,
): Promise<string> {
  if (!options.key)
    throw new CommandError(
      "an API key is needed: --key or BOX_KEY (box pair-code and POST /v1/pair make one)",
      exitCodes.usage,
    );
  const url = options.url.replace(/\/+$/, "") + path;
  if (!URL.canParse(url))
    throw new CommandError(`--url is no address: ${options.url}`, exitCodes.usage);
  // Loaded here, because most of the start of a command would otherwise be this.
  const { request } = await import("undici");
  const answer = await request(url, {
    method,
    headers: {
      authorization: `Bearer ${options.key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headersTimeout: 90_000,
  }).catch((error: unknown) => {
    throw new CommandError(
      `no answer from ${options.url}: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new RefusedError(answer.statusCode, text);
  return text;
}

/** The sentence and the fields of an error body, or the start of whatever came instead. */
export function errorText(text: string): string {
  const error = errorOf(text);
  if (error === null) return text.slice(0, 200);
  const details = (error.details ?? []).map(
    (d) => `\n  ${d.field ?? ""} ${d.reason}${d.value ? ` (${d.value})` : ""}`,
  );
  return error.message + details.join("");
}

function errorOf(text: string): { message: string; details?: ErrorDetail[] } | null {
  try {
    const { error } = JSON.parse(text) as { error: { message: string; details?: ErrorDetail[] } };
    return typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}

export function path(...parts: string[]): string {
  return `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}
