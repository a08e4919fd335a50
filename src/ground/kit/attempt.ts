import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Clock } from "./clock.ts";
import { type EgressError, egressErrorOf } from "./egress-error.ts";
import type { EgressRequest, EgressResult } from "./exchange.ts";
import { whenOpen } from "./guarded.ts";
import { hostOf } from "./url.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 4_096;
const LONGEST_HEAD = 16_384;

/** One request under way. Resolves `result` exactly once, at the latest when its time is up. */
export class Attempt {
  readonly result: Promise<EgressResult>;

  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #maxBytes: number;
  readonly #release: () => void;
  readonly #settle: (result: EgressResult) => void;
  readonly #onStart: () => void;
  #request: ClientRequest | null = null;
  #sent = false;
  #over = false;
  #status: number | null = null;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** `onStart`: called once it has a connection. */
  constructor(clock: Clock, request: EgressRequest, onStart: () => void) {
    const { promise, resolve } = Promise.withResolvers<EgressResult>();
    this.result = promise;
    this.#settle = resolve;
    this.#onStart = onStart;
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#maxBytes = request.maxBytes ?? DEFAULT_MAX_BYTES;
    const cancel = clock.after(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, () => this.#timeUp());
    const stop = () => this.end("stopped");
    request.signal?.addEventListener("abort", stop, { once: true });
    // Not written into the field at once: V8 makes such a function old from the start, and all that it holds with it.
    const release = () => {
      cancel();
      request.signal?.removeEventListener("abort", stop);
    };
    this.#release = release;
  }

  /** Ends the attempt with what was read until now. Later calls change nothing. */
  end(error: EgressError | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
    const truncated = this.#size > this.#maxBytes;
    this.#settle({
      error,
      status: this.#status,
      headers: this.#headers,
      body: this.#size === 0 ? "" : this.#read(truncated),
      truncated,
      sent: this.#sent,
      durationMs: Math.max(0, Math.round(this.#clock.mono() - this.#startedAt)),
    });
    // Only after a whole answer is the connection fit for another request.
    if (error !== null || truncated) this.#request?.destroy();
  }

  /** Sends it once the agent has a connection, with these header fields, names and values by turns. Called once. */
  send(
    url: URL,
    { method, body }: EgressRequest,
    { agent, fields }: { agent: http.Agent; fields: readonly string[] },
  ): void {
    const isSecure = url.protocol === "https:";
    try {
      // Not the URL itself: Node would take it apart once more, into more fields than it needs.
      const request = (isSecure ? https : http).request({
        agent,
        method,
        hostname: hostOf(url),
        port: url.port,
        path: url.pathname + url.search,
        headers: fields,
        maxHeaderSize: LONGEST_HEAD,
      });
      this.#request = request;
      request.on("socket", (socket) => whenOpen(socket, isSecure, () => this.#started()));
      request.on("response", (response) => this.#answered(response));
      request.on("upgrade", (_answer, socket) => {
        socket.destroy();
        this.end("bad_response");
      });
      request.on("error", (error) => this.end(egressErrorOf(error)));
      request.on("close", () => this.end("closed"));
      request.end(body);
    } catch {
      this.end("bad_request");
    }
  }

  #started(): void {
    if (this.#over) return;
    this.#sent = true;
    this.#onStart();
  }

  #answered(response: IncomingMessage): void {
    this.#status = response.statusCode ?? null;
    for (const [name, value] of Object.entries(response.headers)) {
      this.#headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
    }
    response.on("data", (chunk: Buffer) => this.#take(chunk));
    response.on("end", () => this.end(null));
    response.on("error", (error) => this.end(egressErrorOf(error)));
  }

  /** A character that was cut in two is left out. */
  #read(truncated: boolean): string {
    const read = Buffer.concat(this.#chunks).subarray(0, this.#maxBytes);
    return new TextDecoder().decode(read, { stream: truncated });
  }

  #take(chunk: Buffer): void {
    if (this.#over) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.end(null);
  }

  #timeUp(): void {
    if (!this.#sent) this.end("timeout_connect");
    else this.end(this.#status === null ? "timeout" : "body_too_slow");
  }
}
