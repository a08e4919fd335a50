import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from "node:http2";
import type { Clock } from "../ground/kit/clock.ts";

const CONNECT_MS = 5_000;
const PING_EVERY_MS = 60_000;
const PING_ANSWER_MS = 5_000;
/** Apple's limit, also where the peer allows more. */
const MOST_STREAMS = 1_000;
/** Streams before the peer's SETTINGS arrive; APNs asks for one from an unproven client. */
const FIRST_STREAMS = 1;
const BODY_CHARS = 4_096;

/** The result of one stream. */
export type Exchange =
  | { kind: "answered"; status: number; retryAfter: unknown; body: string }
  /** Certainly not processed by the peer: refused, above GOAWAY's last stream, or never sent. */
  | { kind: "unsent"; why: string }
  /** Possibly processed. */
  | { kind: "lost"; why: string };

interface ApnsRequest {
  headers: OutgoingHttpHeaders;
  payload: string;
  deadline: Deadline;
}

/** The time until which the caller waits for the answer. */
export interface Deadline {
  passed: boolean;
  /** Whether the phone got the push; the end of the answer may still be missing. */
  delivered: boolean;
  /** Called once when the time passes. */
  stop: (() => void) | null;
}

export interface SessionEnd {
  why: string;
  connected: boolean;
  /** Whether it has answered a request. */
  proven: boolean;
}

interface SessionOptions {
  endpoint: string;
  /** PEM of the only trusted authority; undefined: those of the runtime. */
  ca: string | undefined;
  clock: Clock;
  /** Called when another stream may be free. */
  onRoom(): void;
  /** Called when the session accepts no more streams. */
  onClosing(end: SessionEnd): void;
}

/** One HTTP/2 connection to APNs, with a ping a minute. Throws only here: for an invalid endpoint or certificate. */
export class ApnsSession {
  readonly #options: SessionOptions;
  readonly #http2: ClientHttp2Session;
  #active = 0;
  #cap = 0;
  #connected = false;
  #proven = false;
  #answers = 0;
  /** Why no more streams are accepted; null while they are. */
  #endedBy: string | null = null;
  #stopTimer: () => void;
  #stopProbe: (() => void) | null = null;

  constructor(options: SessionOptions) {
    const { ca, clock, endpoint } = options;
    this.#options = options;
    this.#http2 = connect(endpoint, {
      ...(ca === undefined ? {} : { ca }),
      settings: { enablePush: false },
    });
    this.#stopTimer = clock.after(CONNECT_MS, () => this.#break("no connection within 5 s"));
    this.#listen();
  }

  #listen(): void {
    this.#http2.on("connect", () => {
      this.#connected = true;
      this.#cap = FIRST_STREAMS;
      this.#pingLater();
      this.#options.onRoom();
    });
    this.#http2.on("remoteSettings", (settings) => {
      this.#cap = Math.min(settings.maxConcurrentStreams ?? MOST_STREAMS, MOST_STREAMS);
      this.#options.onRoom();
    });
    this.#http2.on("goaway", (code, _last, data) => {
      this.#leave(`APNs said goodbye (${code}${goawayReason(data)})`);
    });
    this.#http2.on("error", (error) => this.#ending(errorText(error)));
    this.#http2.on("close", () => {
      this.#stopTimer();
      this.#stopProbe?.();
      this.#ending("the connection ended");
    });
  }

  /** Reserves a stream within the peer's limit; false when none is free or the session is closing. */
  reserve(): boolean {
    const isFull = this.#active >= this.#cap;
    if (this.#endedBy !== null || this.#http2.destroyed || isFull) return false;
    this.#active++;
    return true;
  }

  /** Gives back a reserved stream that wasn't used. */
  release(): void {
    this.#active--;
    this.#options.onRoom();
  }

  /** Sends one request on a reserved stream, which is free again when the promise settles. */
  async send(request: ApnsRequest): Promise<Exchange> {
    const before = this.#answers;
    const exchange = await exchangeOn(this.#http2, request, {
      answered: () => {
        this.#proven = true;
        this.#answers++;
      },
      retire: (why) => this.#leave(why),
      why: () => this.#endedBy ?? "",
    });
    // The peer may answer pings and deliver nothing: a new connection can lead to another machine.
    const isMute = request.deadline.passed && this.#answers === before;
    if (isMute) this.#ending("no answer within 5 s");
    this.release();
    return exchange;
  }

  /** Ends the connection unless the peer answers a ping within five seconds, or answers pings alone. */
  probe(): void {
    if (this.#stopProbe !== null || this.#http2.destroyed || !this.#connected) return;
    const { clock } = this.#options;
    this.#stopProbe = clock.after(PING_ANSWER_MS, () => this.#break("no answer to a ping"));
    const sent = this.#http2.ping(() => {
      this.#stopProbe?.();
      this.#stopProbe = null;
      if (this.#endedBy !== null) this.#http2.close();
    });
    if (!sent) this.#break("a ping could not be sent");
  }

  /** Lets running requests finish, then closes. */
  close(): void {
    this.#leave("closed");
  }

  #pingLater(): void {
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(PING_EVERY_MS, () => {
      this.#pingLater();
      this.probe();
    });
  }

  /** Accepts no more streams. */
  #ending(why: string): void {
    if (this.#endedBy !== null) return;
    this.#endedBy = why;
    this.#options.onClosing({ why, connected: this.#connected, proven: this.#proven });
  }

  #leave(why: string): void {
    this.#ending(why);
    this.#http2.close();
  }

  #break(why: string): void {
    this.#ending(why);
    this.#http2.destroy();
  }
}

function exchangeOn(
  session: ClientHttp2Session,
  request: ApnsRequest,
  peer: { answered(): void; retire(why: string): void; why(): string },
): Promise<Exchange> {
  return new Promise((resolve) => {
    let stream: ReturnType<ClientHttp2Session["request"]>;
    try {
      stream = session.request(request.headers);
    } catch (error) {
      // Out of stream ids, or just closed: the next request needs another connection.
      peer.retire(errorText(error));
      resolve({ kind: "unsent", why: errorText(error) });
      return;
    }
    let status = 0;
    let retryAfter: unknown;
    let body = "";
    request.deadline.stop = () => stream.close(constants.NGHTTP2_CANCEL);
    stream.setEncoding("utf8");
    stream.on("response", (headers) => {
      peer.answered();
      status = Number(headers[":status"]);
      request.deadline.delivered = status === 200;
      retryAfter = headers["retry-after"];
    });
    stream.on("data", (text: string) => {
      if (body.length < BODY_CHARS) body += text;
    });
    // The close handler reads the error; without a listener Node would throw it.
    stream.on("error", () => {});
    stream.on("close", () => {
      request.deadline.stop = null;
      if (status > 0) return resolve({ kind: "answered", status, retryAfter, body });
      // Streams above GOAWAY's last one are also reported as refused; a stream without an id was never sent.
      const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      const unsent = refused || stream.id === undefined;
      const why = refused
        ? "APNs refused the stream"
        : peer.why() || `stream reset (${stream.rstCode})`;
      resolve({ kind: unsent ? "unsent" : "lost", why });
    });
    stream.end(request.payload);
  });
}

function goawayReason(data: unknown): string {
  const reason = Buffer.isBuffer(data) ? data.toString("utf8", 0, 200) : "";
  return reason === "" ? "" : ` ${reason.replace(/[^\x20-\x7e]/g, "?")}`;
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
