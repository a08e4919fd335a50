import { addressClass } from "../src/ground/kit/addresses.ts";
import { sleep, systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { createEgress, type Egress } from "../src/ground/kit/egress.ts";
import type { EgressResult } from "../src/ground/kit/exchange.ts";
import type { GivenFile } from "../src/records/import/given-file.ts";
import type { Importer } from "../src/records/import/importer.ts";
import type { LiveRequest } from "../src/records/import/live.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { MOST_BYTES, MOST_FILES } from "./import-files.ts";
import { printable } from "./table.ts";
import { terminal } from "./terminal.ts";

const ANSWER_MS = 60_000;
const MOST_TRIES = 6;
const LONGEST_PAUSE_S = 600;

interface LiveFlags {
  /** The API's address, without the path that the importer adds. */
  fromUrl: string;
  /** File with the token; `-` is standard input. */
  token?: string | undefined;
}

/**
 * The export of a running system, as files. All of it or nothing: throws CommandError where one answer fails, with the
 * request's path. Waits where the system says that it is asked too often.
 */
export async function readLive(
  { title, live }: Importer,
  { fromUrl, token: file }: LiveFlags,
): Promise<GivenFile[]> {
  const base = addressOf(fromUrl, { hasToken: live.headers !== null });
  const headers = live.headers?.(await tokenFrom(title, file)) ?? {};
  const egress = createEgress({ clock: systemClock, rules: { role: "box" } });
  try {
    const steps = live.files({ now: unixSeconds(systemClock) });
    let bytes = 0;
    let step = steps.next();
    for (let asked = 0; !step.done; asked += 1) {
      const { body } = await answerTo(egress, step.value, { base, headers });
      bytes += body.length;
      if (asked >= MOST_FILES || bytes > MOST_BYTES)
        throw failed(step.value, `more than ${MOST_FILES} answers or ${MOST_BYTES >> 20} MB`);
      step = steps.next(jsonOf(step.value, body));
    }
    return step.value;
  } finally {
    await egress.close();
  }
}

/** Throws wrong usage where a token would be readable on the way. */
function addressOf(text: string, { hasToken }: { hasToken: boolean }): string {
  const url = URL.parse(text);
  const isHttp = url !== null && /^https?:$/.test(url.protocol);
  if (!isHttp || url.username !== "" || url.search !== "")
    throw new CommandError(`--from-url: ${printable(text)} is no address`, exitCodes.usage);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const near = ["private", "loopback"].includes(addressClass(host) ?? "") || host === "localhost";
  if (hasToken && url.protocol === "http:" && !near)
    throw new CommandError(
      "--from-url: the token would be sent in clear text: use https",
      exitCodes.usage,
    );
  return url.origin + url.pathname.replace(/\/+$/, "");
}

async function tokenFrom(title: string, file: string | undefined): Promise<string> {
  if (file === undefined)
    throw new CommandError(
      `${title} needs a token: --token FILE, or --token - for standard input`,
      exitCodes.usage,
    );
  const token = (await readText(file)).trim();
  if (!/^[\x21-\x7e]{1,8192}$/.test(token))
    throw new CommandError(`${file}: it must hold one token and nothing else`, exitCodes.usage);
  return token;
}

interface At {
  base: string;
  headers: Readonly<Record<string, string>>;
}

async function answerTo(
  egress: Egress,
  request: LiveRequest,
  { base, headers }: At,
): Promise<EgressResult> {
  const { path, body } = request;
  const json = body === undefined ? {} : { "content-type": "application/json" };
  for (let tried = 1; ; tried += 1) {
    const result = await egress.send({
      method: body === undefined ? "GET" : "POST",
      url: base + path,
      headers: { accept: "application/json", ...json, ...headers },
      timeoutMs: ANSWER_MS,
      maxBytes: MOST_BYTES,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status, error, truncated } = result;
    if (error !== null) throw failed(request, `no answer (${error})`);
    if (truncated) throw failed(request, `an answer of more than ${MOST_BYTES >> 20} MB`);
    if (status === 200) return result;
    const isThrottled = status === 429 || status === 503;
    const pause = pauseOf(result, tried);
    if (!isThrottled || tried === MOST_TRIES || pause > LONGEST_PAUSE_S)
      throw failed(request, `the answer ${status}${hintOf(status)}`);
    terminal().stderr.write(`${status}: waiting ${pause} seconds\n`);
    await sleep(systemClock, pause * 1000);
  }
}

/** Seconds, from the header that the answer has; each system has its own. */
function pauseOf({ headers }: EgressResult, tried: number): number {
  for (const name of ["retry-after", "ratelimit-reset", "x-ratelimit-period-in-sec"]) {
    const given = headers[name] ?? "";
    const date = Date.parse(given);
    const seconds = /^\d+$/.test(given)
      ? Number(given)
      : Math.ceil(date / 1000) - unixSeconds(systemClock);
    if (Number.isFinite(seconds)) return Math.max(1, seconds);
  }
  return 2 ** tried;
}

const hintOf = (status: number | null): string =>
  status === 401 || status === 403
    ? ": the token isn't allowed to read it"
    : status === 404
      ? ": is it the address of the API?"
      : "";

function jsonOf(request: LiveRequest, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw failed(request, "an answer that isn't JSON");
  }
}

const failed = ({ path }: LiveRequest, how: string) =>
  new CommandError(`${printable(path)}: ${how}. Nothing was written; run it again.`);
