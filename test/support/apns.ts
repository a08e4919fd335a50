import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";

/** What the fake does with one push. */
export type ApnsStep =
  | { status: number; reason?: string; timestamp?: number; retryAfter?: string; delayMs?: number }
  /** Its status goes out, and its end never does. */
  | { status: 200; unended: true }
  | { refuse: true }
  /** Says goodbye; this stream is answered ("through") or was never looked at ("below"). */
  | { goaway: "through" | "below" }
  | { stall: true }
  | { reset: "stream" | "connection" }
  /** Waits for `until`, then does what `next` says. */
  | { until: Promise<void>; next: ApnsStep };

export interface ReceivedPush {
  token: string;
  headers: IncomingHttpHeaders;
  payload: string;
  /** The parsed payload. */
  body: ApnsBody;
  /** What it was answered; 0 where no answer was given. */
  status: number;
  reason: string;
  /** When it came, by performance.now(). */
  at: number;
  /** What `onConnection` said of the connection by which it came. */
  connection: unknown;
}

export interface ApnsBody {
  aps: {
    alert: { title: string; body: string };
    sound: unknown;
    "interruption-level": string;
    "thread-id"?: string;
  };
  [field: string]: unknown;
}

export interface FakeApns {
  endpoint: string;
  ca: string;
  /** The provider's private key as a .p8 file's text, with its ids and topic. */
  key: string;
  keyId: string;
  teamId: string;
  topic: string;
  /** Every push looked at, in order. */
  received: ReceivedPush[];
  /** The tokens whose push was answered 200, in order. */
  delivered(): string[];
  /** Sets the next answers for a device; after them it is answered 200 again. */
  script(token: string, ...steps: ApnsStep[]): void;
  /** What every device without a script is answered. */
  otherwise(step: ApnsStep): void;
  /** Distinct provider tokens seen. */
  providerTokens: Set<string>;
  /** Connections accepted so far, and most streams open at once. */
  sessions: number;
  mostStreams: number;
  pings: number;
  /** Resolves when `n` pushes have been looked at. */
  seen(n: number): Promise<void>;
  close(): Promise<void>;
}

export interface FakeApnsOptions {
  /** Streams allowed at once. Default 1,000. */
  streams?: number;
  /** Starts with one stream, as Apple does, and allows `streams` after the first good token. */
  oneFirst?: boolean;
  /** Wall time in milliseconds for the token's age. Default: the token is never too old. */
  now?: () => number;
  /** Called for each connection as it comes, with its port there; what it says stands in each push that comes by it. */
  onConnection?: (port: number) => unknown;
}

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

/** Apple's push service as far as a provider sees it, over real HTTP/2 and TLS on a free port. */
export async function startFakeApns(options: FakeApnsOptions = {}): Promise<FakeApns> {
  const ca = fixture("localhost.crt");
  const pair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const streams = options.streams ?? 1000;
  const server = createSecureServer({
    key: fixture("localhost.key"),
    cert: ca,
    settings: { maxConcurrentStreams: options.oneFirst ? 1 : streams },
  });
  const scripts = new Map<string, ApnsStep[]>();
  const open = new Set<ServerHttp2Session>();
  const connections = new Map<number, unknown>();
  const waiters: { n: number; done: () => void }[] = [];
  let usual: ApnsStep = { status: 200 };
  let inFlight = 0;

  const fake: FakeApns = {
    endpoint: "",
    ca,
    key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    keyId: "KEY1234567",
    teamId: "TEAM123456",
    topic: "com.example.pager",
    received: [],
    delivered: () => fake.received.filter((push) => push.status === 200).map((push) => push.token),
    script: (token, ...steps) => void scripts.set(token, [...(scripts.get(token) ?? []), ...steps]),
    otherwise(step) {
      usual = step;
    },
    providerTokens: new Set(),
    sessions: 0,
    mostStreams: 0,
    pings: 0,
    seen: (n) =>
      new Promise((done) => {
        if (fake.received.length >= n) done();
        else waiters.push({ n, done });
      }),
    async close() {
      for (const session of open) session.destroy();
      server.close();
      await once(server, "close");
    },
  };

  const receive = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, payload: string) => {
    const token = String(headers[":path"]).replace("/3/device/", "");
    const fault = faultOf({ headers, payload, fake, key: pair.publicKey, now: options.now });
    const step = fault ?? scripts.get(token)?.shift() ?? usual;
    const push: ReceivedPush = {
      token,
      headers,
      payload,
      body: tryParse(payload),
      status: 0,
      reason: "",
      at: performance.now(),
      // A port is soon another connection's, but not while this one is open.
      connection: connections.get(stream.session?.socket?.remotePort ?? 0),
    };
    fake.received.push(push);
    if (options.oneFirst && fault === null)
      stream.session?.settings({ maxConcurrentStreams: streams });
    play(stream, push, step);
    for (const waiter of waiters) if (fake.received.length >= waiter.n) waiter.done();
  };

  server.on("connection", ({ remotePort = 0 }: Socket) =>
    connections.set(remotePort, options.onConnection?.(remotePort)),
  );
  server.on("session", (session) => {
    fake.sessions++;
    open.add(session);
    session.on("error", () => {});
    session.on("ping", () => fake.pings++);
    session.on("close", () => open.delete(session));
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    inFlight++;
    fake.mostStreams = Math.max(fake.mostStreams, inFlight);
    const chunks: Buffer[] = [];
    stream.on("error", () => {});
    stream.on("close", () => inFlight--);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      if (!isIgnored(stream)) receive(stream, headers, Buffer.concat(chunks).toString());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  fake.endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
  return fake;
}

/** The last stream that a session which said goodbye looks at. */
const lastStreams = new WeakMap<object, number>();

function isIgnored(stream: ServerHttp2Stream): boolean {
  const last = stream.session && lastStreams.get(stream.session);
  return last !== undefined && (stream.id ?? 0) > last;
}

function play(stream: ServerHttp2Stream, push: ReceivedPush, step: ApnsStep): void {
  if ("until" in step) {
    step.until.then(() => play(stream, push, step.next));
  } else if ("refuse" in step) {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
  } else if ("reset" in step) {
    if (step.reset === "stream") stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else stream.session?.destroy();
  } else if ("goaway" in step) {
    const id = stream.id ?? 0;
    const reason = Buffer.from(JSON.stringify({ reason: "Shutdown" }));
    const last = step.goaway === "through" ? id : id - 2;
    const session = stream.session;
    // Node takes a last stream of 0 for "the last one seen".
    if (session && last > 0) {
      lastStreams.set(session, last);
      session.goaway(constants.NGHTTP2_NO_ERROR, last, reason);
    } else session?.destroy();
    if (step.goaway === "through") respond(stream, push, { status: 200 });
  } else if ("status" in step) {
    if (!("delayMs" in step) || step.delayMs === undefined) respond(stream, push, step);
    else setTimeout(() => respond(stream, push, step), step.delayMs);
  }
}

function respond(
  stream: ServerHttp2Stream,
  push: ReceivedPush,
  answer: {
    status: number;
    reason?: string;
    timestamp?: number;
    retryAfter?: string;
    unended?: true;
  },
): void {
  if (stream.destroyed || stream.closed) return;
  push.status = answer.status;
  push.reason = answer.reason ?? "";
  const headers = { ":status": answer.status, "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b" };
  stream.respond(
    answer.retryAfter === undefined ? headers : { ...headers, "retry-after": answer.retryAfter },
  );
  if (answer.unended === true) return;
  if (answer.status === 200) stream.end();
  else stream.end(JSON.stringify({ reason: answer.reason, timestamp: answer.timestamp }));
}

/** What Apple would refuse in this request, or null. */
function faultOf(request: {
  headers: IncomingHttpHeaders;
  payload: string;
  fake: FakeApns;
  key: KeyObject;
  now: (() => number) | undefined;
}): ApnsStep | null {
  const { headers, payload, fake } = request;
  const refuse = (status: number, reason: string) => ({ status, reason });
  if (headers[":method"] !== "POST") return refuse(405, "MethodNotAllowed");
  if (!String(headers[":path"]).startsWith("/3/device/")) return refuse(404, "BadPath");
  const bearer = /^bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  if (bearer === undefined) return refuse(403, "MissingProviderToken");
  fake.providerTokens.add(bearer);
  const fault = tokenFault(bearer, fake, request.key, request.now?.());
  if (fault !== null) return refuse(403, fault);
  if (!/^[0-9a-f]{64}$/.test(String(headers[":path"]).slice(10)))
    return refuse(400, "BadDeviceToken");
  if (headers["apns-topic"] !== fake.topic) return refuse(400, "TopicDisallowed");
  if (headers["apns-push-type"] !== "alert") return refuse(400, "InvalidPushType");
  if (headers["apns-priority"] !== "10") return refuse(400, "BadPriority");
  if (!/^\d+$/.test(String(headers["apns-expiration"]))) return refuse(400, "BadExpirationDate");
  const collapse = String(headers["apns-collapse-id"] ?? "");
  if (Buffer.byteLength(collapse) > 64) return refuse(400, "BadCollapseId");
  if (payload === "") return refuse(400, "PayloadEmpty");
  return Buffer.byteLength(payload) > 4096 ? refuse(413, "PayloadTooLarge") : null;
}

function tokenFault(
  jwt: string,
  fake: FakeApns,
  key: KeyObject,
  now: number | undefined,
): string | null {
  const [header = "", claims = "", signature = ""] = jwt.split(".");
  const head = tryParse(Buffer.from(header, "base64url").toString()) as { [name: string]: unknown };
  const body = tryParse(Buffer.from(claims, "base64url").toString()) as { [name: string]: unknown };
  const good = verify(
    "sha256",
    Buffer.from(`${header}.${claims}`),
    {
      key: createPublicKey(key.export({ type: "spki", format: "pem" })),
      dsaEncoding: "ieee-p1363",
    },
    Buffer.from(signature, "base64url"),
  );
  if (!good || head["alg"] !== "ES256") return "InvalidProviderToken";
  if (head["kid"] !== fake.keyId || body["iss"] !== fake.teamId) return "InvalidProviderToken";
  if (now === undefined) return null;
  const age = now / 1000 - Number(body["iat"]);
  if (age > 3600) return "ExpiredProviderToken";
  return age < -60 ? "InvalidProviderToken" : null;
}

function tryParse(text: string): ApnsBody {
  try {
    return JSON.parse(text) as ApnsBody;
  } catch {
    return { aps: { alert: { title: "", body: "" }, sound: null, "interruption-level": "" } };
  }
}
