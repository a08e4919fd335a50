import { CommandError, exitCodes } from "./exit.ts";
import { loginFile, readLogin } from "./login-file.ts";
import { terminal } from "./terminal.ts";

/** Options of commands that call a running box (`apiFlags`). */
export interface ApiOptions {
  url?: string;
  key?: string;
  json?: boolean;
}

/** A box's address, without a slash at its end, and the user's key. */
export interface Connection {
  readonly url: string;
  readonly key: string;
  /** Where the key was found, for people. */
  readonly keyFrom: string;
}

export const USUAL_URL = "http://127.0.0.1:8080";

/** The box's address: from flags, the environment, `box login`, or the default. Throws CommandError. */
export function urlOf(options: { url?: string }): string {
  return plainUrl(options.url ?? readLogin()?.url ?? USUAL_URL);
}

/** As `urlOf`, with a key. Throws CommandError where there is none, or none for this box. */
export function connectionOf(options: ApiOptions): Connection {
  const url = urlOf(options);
  if (options.key !== undefined) {
    const keyFrom = options.key === terminal().env["BOX_KEY"] ? "BOX_KEY" : "--key";
    return { url, key: tokenOf("ptk", options.key, keyFrom), keyFrom };
  }
  const login = readLogin();
  if (login === null)
    throw new CommandError(
      'an API key is needed: box login --code "$(box pair-code)" gets one and keeps it (or --key, or BOX_KEY)',
      exitCodes.usage,
    );
  // A key is only sent to the box that made it.
  if (plainUrl(login.url) !== url)
    throw new CommandError(
      `the login is for ${login.url}, not for ${url}: box login --url ${url}, or --key`,
      exitCodes.usage,
    );
  return { url, key: login.key, keyFrom: loginFile() };
}

export function plainUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      `--url must be an address like ${USUAL_URL}, not "${text}"`,
      exitCodes.usage,
    );
  return text.replace(/\/+$/, "");
}

const KINDS = {
  ptk: "an API key (ptk_…), which reads and configures",
  pti: "an ingest token (pti_…), which only sends events",
  pts: "a session token (pts_…) of the hosted service, which only manages devices and pairings",
} as const;

const MADE_BY = {
  ptk: "box login gets one",
  pti: "box source add PROJECT NAME makes one",
} as const;

/** Returns `text` if it is a token of that kind. Throws CommandError that says which kind it is instead. */
export function tokenOf(kind: "ptk" | "pti", text: string, from: string): string {
  if (text.startsWith(`${kind}_`)) return text;
  const other = /^(pt[kis])_/.exec(text)?.[1] as keyof typeof KINDS | undefined;
  const is = other === undefined ? "no token of a box" : KINDS[other];
  throw new CommandError(
    `${from} is ${is}; what is needed here is ${KINDS[kind]}: ${MADE_BY[kind]}`,
    exitCodes.usage,
  );
}
