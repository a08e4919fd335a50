import { CommandError, exitCodes } from "./exit.ts";

export interface ApiOptions {
  url: string;
  key?: string;
  json?: boolean;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

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
  if (answer.statusCode >= 300) throw new CommandError(`${answer.statusCode}: ${errorText(text)}`);
  return text;
}

/** The sentence and the fields of an error body, or the start of whatever came instead. */
export function errorText(text: string): string {
  try {
    const { error } = JSON.parse(text) as {
      error: { message: string; details?: { field?: string; reason: string; value?: string }[] };
    };
    const details = (error.details ?? []).map(
      (d) => `\n  ${d.field ?? ""} ${d.reason}${d.value ? ` (${d.value})` : ""}`,
    );
    return error.message + details.join("");
  } catch {
    return text.slice(0, 200);
  }
}

export function path(...parts: string[]): string {
  return `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}
