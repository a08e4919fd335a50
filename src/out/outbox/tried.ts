import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { Egress } from "../../ground/kit/egress.ts";
import type { EgressRequest, EgressResult } from "../../ground/kit/exchange.ts";
import { cut } from "../../ground/kit/text.ts";
import type { Credentials } from "./credentials.ts";
import { mask, secretsOf } from "./mask.ts";

/** What one attempt sent and was answered, as it is kept: nothing in it opens anything. */
export interface Tried {
  /** Unix seconds of its beginning. */
  at: number;
  duration_ms: number;
  /** null where no answer came, or none with a status. */
  status_code: number | null;
  /** The first 512 characters. */
  answer: string;
  /** How many phones the relay paged, where it said so. */
  devices?: number;
  /** The last request of the attempt; absent where it spoke no HTTP, or never left. */
  request?: SentRequest | typeof AS_SIGNED;
}

interface SentRequest {
  method: string;
  /** What identifies somebody is sealed. */
  headers: Record<string, string>;
  /** null: the event's own body, byte for byte. */
  body: string | null;
}

/** What names an event and when it was signed. */
interface Signing {
  eventId: string;
  signedAt: number;
}

/** A webhook's request, which most are: what is its own in it stands in the row and in its event. */
function signedRequest({ eventId, signedAt }: Signing): SentRequest {
  const open = { ...JSON_BODY, "X-Service-Timestamp": String(signedAt), "webhook-id": eventId };
  const sealed = { "X-Service-Signature": SEALED, "webhook-signature": SEALED };
  const headers = { ...open, "webhook-timestamp": String(signedAt), ...sealed };
  return { method: "POST", headers, body: null };
}

const JSON_BODY = { "Content-Type": "application/json" };
/** In place of such a request, which gives nothing away. */
const AS_SIGNED = "";

function isSigned(
  { method, headers = {}, body }: EgressRequest,
  event: Signing & { body: string },
): boolean {
  if (method !== "POST" || body !== event.body) return false;
  const { headers: usual } = signedRequest(event);
  const names = Object.keys(headers);
  return (
    names.length === Object.keys(usual).length &&
    names.every((name) => usual[name] === SEALED || usual[name] === headers[name])
  );
}

/** A request as its row keeps it. `lasts`: the time of signing that stands in the row is this request's for ever. */
export function keptRequest(
  request: SentRequest | typeof AS_SIGNED,
  signing: Signing,
  lasts: boolean,
): string {
  if (request === AS_SIGNED) return lasts ? AS_SIGNED : JSON.stringify(signedRequest(signing));
  return JSON.stringify(request);
}

/** The request again; null where there was none, or its event is no longer kept. */
export function requestOf({
  request,
  eventId,
  signedAt,
}: {
  request: string | null;
  eventId: string | null;
  signedAt: number | null;
}): SentRequest | null {
  if (request === null) return null;
  if (request !== AS_SIGNED) return JSON.parse(request) as SentRequest;
  return eventId === null || signedAt === null ? null : signedRequest({ eventId, signedAt });
}

/** One attempt as its row keeps it. */
export type KeptTry = Omit<Tried, "request"> & { error: string | null };

/** How many attempts a row keeps. */
const MOST_TRIES = 5;

/** The row's attempts with one more behind them. */
export function withTry(
  kept: string | null,
  { at, duration_ms, status_code, answer, devices }: Tried,
  error: string | null,
): string {
  const before = kept === null ? [] : (JSON.parse(kept) as KeptTry[]);
  const tried = { at, duration_ms, status_code, answer, devices, error };
  return JSON.stringify([...before, tried].slice(-MOST_TRIES));
}

const ANSWER_CHARS = 512;
const BODY_CHARS = 16_384;
const SEALED = "[sealed]";

/** Headers that say nothing of who sends. */
const OPEN_HEADERS = new Set([
  "accept",
  "content-type",
  "user-agent",
  "webhook-id",
  "webhook-timestamp",
  "x-service-timestamp",
  "title",
  "priority",
  "tags",
  "markdown",
]);

export interface ExchangeWatch {
  /** The way out to send through. */
  readonly egress: Egress;
  /** What must not be seen, once it is known. */
  hide(credentials: Credentials): void;
  /** What the attempt came to. What stands in the event need not be kept twice. */
  tried(event: Signing & { body: string }): Tried;
}

/** Looks on while one attempt sends, whatever its kind makes of the answer. */
export function watchExchange(egress: Egress, clock: Clock): ExchangeWatch {
  const at = unixSeconds(clock);
  const begun = clock.mono();
  let last: { request: EgressRequest; result: EgressResult } | null = null;
  let credentials: Credentials = {};
  return {
    egress: {
      dial: (request) => egress.dial(request),
      talk: (request) => egress.talk(request),
      async send(request) {
        const result = await egress.send(request);
        last = { request, result };
        return result;
      },
    },
    hide(those) {
      credentials = those;
    },
    tried(event) {
      if (last === null) {
        const duration_ms = Math.max(0, Math.round(clock.mono() - begun));
        return { at, duration_ms, status_code: null, answer: "" };
      }
      const { request, result } = last;
      const came = { at, duration_ms: result.durationMs, status_code: result.status };
      const asSigned = isSigned(request, event);
      if (asSigned && result.body === "") return { ...came, answer: "", request: AS_SIGNED };
      const { open, hidden } = parted(request.headers ?? {});
      const secrets = [...secretsOf(hidden, null), ...secretsIn(credentials)];
      const cutShort = result.truncated || result.error !== null;
      const answer = cut(mask(result.body, secrets, cutShort), ANSWER_CHARS);
      if (asSigned) return { ...came, answer, request: AS_SIGNED };
      const sent = {
        method: request.method,
        headers: { ...masked(open, secrets), ...sealedNames(hidden) },
        body: bodyOf(request, event.body, secrets),
      };
      return { ...came, answer, request: sent };
    },
  };
}

type Headers = Record<string, string>;

function parted(headers: Readonly<Headers>): { open: Headers; hidden: Headers } {
  const [open, hidden]: [Headers, Headers] = [{}, {}];
  for (const [name, value] of Object.entries(headers))
    (OPEN_HEADERS.has(name.toLowerCase()) ? open : hidden)[name] = value;
  return { open, hidden };
}

const masked = (headers: Headers, secrets: readonly string[]) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, mask(value, secrets, false)]),
  );

const sealedNames = (headers: Headers) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, SEALED]));

function bodyOf(
  { body }: EgressRequest,
  eventBody: string,
  secrets: readonly string[],
): string | null {
  if (body === eventBody) return null;
  return typeof body === "string" ? cut(mask(body, secrets, false), BODY_CHARS) : "";
}

/** A part of an address shorter than this is a word, and no secret. */
const SHORTEST_PART = 12;

const known = new WeakMap<Credentials, string[]>();

/** Each credential as it is, as an address writes it, and an address's own parts; the `url` is shown anyway. */
function secretsIn(credentials: Credentials): string[] {
  const secrets = known.get(credentials) ?? findSecrets(credentials);
  known.set(credentials, secrets);
  return secrets;
}

function findSecrets({ url: _, ...credentials }: Credentials): string[] {
  const values = Object.values(credentials).flatMap((value) => [
    value,
    encodeURIComponent(value),
    ...partsOf(value),
  ]);
  return secretsOf(Object.fromEntries(values.map((value, i) => [String(i), value])), null);
}

function partsOf(value: string): string[] {
  const address = /^https?:\/\//.test(value) ? URL.parse(value) : null;
  if (address === null) return [];
  const { pathname, search, searchParams, username, password } = address;
  const path = pathname.slice(1);
  const words = [...path.split("/"), ...searchParams.values()];
  const parts = words.filter((word) => word.length >= SHORTEST_PART);
  return [path + search, path, search.slice(1), username, password, ...parts];
}
