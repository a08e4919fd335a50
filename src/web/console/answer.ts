import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { DurableGate } from "../../ground/kit/gate.ts";
import type { PageFile, RawDocument } from "./screen.ts";

/** The media type of every page and of its sections. */
const TYPE = "text/html; charset=utf-8";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types box",
].join("; ");

/** Of a page that holds a frame of this box's own. */
export const WITH_FRAME = { "Content-Security-Policy": `${POLICY}; frame-src 'self'` };

/** Headers of every answer that a signed-in browser gets. */
const COMMON: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  // Not `no-referrer`: with that browsers send `Origin: null` for forms, and the page that a form stood on isn't known.
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "X-Robots-Tag": "noindex, nofollow, noarchive",
};

/** A month: the same host may serve others without TLS, and this binds all its ports. */
const HSTS = "max-age=2592000";

interface HtmlAnswer {
  status: number;
  body: string;
  /** It shows something this once: nobody keeps it. */
  once?: boolean;
  headers?: Readonly<Record<string, string>>;
  cookies?: readonly string[];
}

/** What of a request decides how an answer is sent. */
export interface Asked {
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
  tls: boolean;
}

/** Below this a smaller body isn't worth the work, in characters. */
const SHORT = 1024;

/** The latest bodies, by their tags: many browsers ask for the same when something changes. */
const packed = new ForgetfulMap<string, Buffer>(16);

/** What is shown this once isn't kept. */
function pack(body: string, etag: string | null): Buffer {
  const bytes = (etag !== null && packed.get(etag)) || gzipSync(body, { level: 5 });
  if (etag !== null) packed.set(etag, bytes);
  return bytes;
}

/** A page, or some of its sections, as it leaves: 304 where the browser has just this. */
export function sendHtml(sent: HtmlAnswer, asked: Asked): Response {
  const { status, body, once = false, cookies = [] } = sent;
  const etag = `"${hash("sha256", body, "base64url").slice(0, 22)}"`;
  const headers: Record<string, string> = {
    ...COMMON,
    "Content-Type": TYPE,
    "Cache-Control": once ? "no-store" : "private, no-cache",
    Vary: "Cookie, X-Sections, Accept, Accept-Encoding",
    ...(asked.tls ? { "Strict-Transport-Security": HSTS } : {}),
    ...sent.headers,
    ...(status === 200 && !once ? { ETag: etag } : {}),
  };
  const isKnown = headers["ETag"] !== undefined && asked.ifNoneMatch === etag;
  const isPacked = body.length >= SHORT && /\bgzip\b/.test(asked.acceptEncoding ?? "");
  if (isPacked && !isKnown) headers["Content-Encoding"] = "gzip";
  const answer = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(isPacked ? pack(body, once ? null : etag) : body, { status, headers });
  for (const cookie of cookies) answer.headers.append("Set-Cookie", cookie);
  return answer;
}

/** A file to be saved; nobody keeps it on the way. Each piece of it waits for `mayTell`. */
export function sendFile(
  { name, type, body }: PageFile,
  { tls }: Pick<Asked, "tls">,
  mayTell: DurableGate,
): Response {
  const headers = {
    ...COMMON,
    "Content-Type": type,
    "Content-Disposition": `attachment; filename="${name.replaceAll(/[^\w.-]+/g, "-")}"`,
    "Cache-Control": "no-store",
    ...(tls ? { "Strict-Transport-Security": HSTS } : {}),
  };
  if (typeof body === "string") return new Response(body, { headers });
  return new Response(ReadableStream.from(encoded(body, mayTell)), { headers });
}

async function* encoded(
  pieces: AsyncIterable<string>,
  mayTell: DurableGate,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) {
    await mayTell();
    yield encoder.encode(piece);
  }
}

/** A document as it is, with headers of its own. */
export function sendDocument(sheet: RawDocument, { tls }: Pick<Asked, "tls">): Response {
  const { status, headers, body } = sheet;
  return new Response(body === "" ? null : body, {
    status,
    headers: { ...headers, ...(tls ? { "Strict-Transport-Security": HSTS } : {}) },
  });
}

/** On to another address: one of this box's own, or one that it made. */
export function goTo(
  to: string,
  how: { tls: boolean; cookies?: readonly string[]; headers?: Readonly<Record<string, string>> },
): Response {
  const headers = new Headers({
    ...COMMON,
    Location: to,
    "Cache-Control": "no-store",
    ...(how.tls ? { "Strict-Transport-Security": HSTS } : {}),
    ...how.headers,
  });
  for (const cookie of how.cookies ?? []) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}
