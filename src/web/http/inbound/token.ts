import { senderKeyHash, shortToken } from "../../../core/projects/sources.ts";
import { parseToken } from "../../../ground/kit/ids.ts";

/** Where a sender may have put its token. */
interface TokenPlaces {
  /** What follows `/v1/in/{kind}`. */
  rest: string;
  header(name: string): string | undefined;
  query: URLSearchParams;
}

/** The token, if one is there, and the path without it. */
export interface FoundToken {
  token: string | null;
  path: string;
  /** Two places say different tokens: nobody knows which is meant. */
  conflict: boolean;
  /** Without a token: what may be a key of an earlier tool, and the path without it. Only who knows them can tell. */
  keys: readonly { key: string; path: string }[];
}

const QUERY_NAMES = ["key", "token", "apiKey", "sentry_key"];

/**
 * Looks where senders can put one: the path, `Authorization` in the ways that they write it, headers of their own,
 * the query (contract §23). A token looks like one, so that a path that a sender appends is never taken for it.
 */
export function findToken({ rest, header, query }: TokenPlaces): FoundToken {
  const [, first = "", ...others] = rest.split("/");
  const inPath = isToken(first) ? first : null;
  const path = inPath === null ? rest : others.length === 0 ? "" : `/${others.join("/")}`;
  const said = [
    ...ofAuthorization(header("authorization") ?? ""),
    ...ofSentry(header("x-sentry-auth") ?? ""),
    header("x-gotify-key"),
    header("x-gitlab-token"),
    ...QUERY_NAMES.map((name) => query.get(name)),
  ].filter((text) => typeof text === "string");
  const found = new Set([...(inPath === null ? [] : [inPath]), ...said.filter(isToken)]);
  const [token = null] = found;
  const after = others.length === 0 ? "" : `/${others.join("/")}`;
  const keys = [{ key: first, path: after }, ...said.map((key) => ({ key, path: rest }))];
  const mayBe = token === null ? keys.filter(({ key }) => senderKeyHash(key) !== null) : [];
  return { token, path, conflict: found.size > 1, keys: mayBe };
}

/** Whether it has the form of a source's token, long or short. */
function isToken(text: string): boolean {
  return parseToken(text)?.plane === "pti" || shortToken(text) !== null;
}

/** `Bearer T`, `GenieKey T`, `ApiKey T`, `ApiKey base64(x:T)`, `Basic`: the password, or the user without one. */
export function ofAuthorization(text: string): string[] {
  const [, scheme = "", value = ""] = /^([A-Za-z]{1,20}) +(\S{1,400})$/.exec(text.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
    case "geniekey":
      return [value];
    case "apikey":
      return [value, ...pairOf(value).slice(1)];
    case "basic": {
      const [user = "", password = ""] = pairOf(value);
      return [password === "" ? user : password];
    }
    default:
      return [];
  }
}

function pairOf(base64: string): string[] {
  const text = Buffer.from(base64, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon === -1 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}

function ofSentry(text: string): string[] {
  const [, key = ""] = /(?:^|[\s,])sentry_key=([0-9A-Za-z_-]{1,128})/.exec(text) ?? [];
  return [key];
}
