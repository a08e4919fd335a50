import { idOf, type Kind, unknownThing } from "./collections.ts";
import { type ApiOptions, type Connection, connectionOf } from "./connection.ts";
import { answered, RefusedError, refusal } from "./refused.ts";
import { type Method, type Reply, send } from "./request.ts";

const by =
  (method: Method) =>
  async <T>(options: ApiOptions, path: string, body?: unknown): Promise<T> => {
    const text = await callApiText(options, method, path, body);
    return method === "DELETE" && text === "" ? ({} as T) : answered<T>(text);
  };

/** Calls the box's API as the terminal's user. Throws CommandError with the box's message. */
export const api = {
  get: by("GET"),
  post: by("POST"),
  put: by("PUT"),
  patch: by("PATCH"),
  delete: by("DELETE"),
};

/** As `api`, for answers other than JSON. */
export async function callApiText(
  options: ApiOptions,
  method: Method,
  path: string,
  body?: unknown,
): Promise<string> {
  const connection = connectionOf(options);
  const { url, key: token } = connection;
  const reply = await send(url, { method, path, token, ...(body === undefined ? {} : { body }) });
  if (reply.status < 300) return reply.text;
  throw new RefusedError(reply, await explained(reply, connection, path));
}

/** An addition to the box's message: the things that exist, or where the key was found. */
async function explained(
  { status, text }: Reply,
  { url, key: token, keyFrom }: Connection,
  path: string,
): Promise<string | undefined> {
  if (status === 401)
    return `${url} doesn't know the key from ${keyFrom}: it is of another box, or was revoked. box login gets a new one.`;
  if (status !== 404) return undefined;
  const list = async (path: string): Promise<unknown> =>
    JSON.parse((await send(url, { method: "GET", path, token })).text);
  // The list is only a help: where it can't be read, the box's message is still shown.
  return (await unknownThing(refusal(text), path, list).catch(() => null)) ?? undefined;
}

/** The id of a thing in a project, by its id or name. Throws CommandError. */
export async function namedId(
  options: ApiOptions,
  what: { kind: Kind; project: string },
  asked: string,
): Promise<string> {
  if (/^[0-9a-f]{16}$/.test(asked)) return asked;
  return idOf((path) => api.get(options, path), what, asked);
}

/** The address of something of the interface: `v1("alerts", id)`. */
export const v1 = (...parts: string[]): string => path("v1", ...parts);

/** An address with a query, of what is there. */
export function queried(
  at: string,
  asked: Readonly<Record<string, string | number | boolean | null | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked))
    if (value !== undefined && value !== null) query.set(name, String(value));
  return query.size === 0 ? at : `${at}?${query}`;
}

export function path(...parts: string[]): string {
  return `/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}
