import type { Dispatcher } from "undici";
import type { Clock } from "./clock.ts";
import { type EgressError, egressErrorOf } from "./egress-error.ts";
import type { EgressRequest, EgressResult } from "./exchange.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 4_096;

/** One request under way. Resolves `result` exactly once, at the latest when its time is up. */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly result: Promise<EgressResult>;

  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #maxBytes: number;
  readonly #release: () => void;
  readonly #settle: (result: EgressResult) => void;
  readonly #onStart: () => void;
  #controller: Dispatcher.DispatchController | null = null;
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
    this.#release = () => {
      cancel();
      request.signal?.removeEventListener("abort", stop);
    };
  }

  /** Ends the attempt with what was read until now. Later calls change nothing. */
  end(error: EgressError | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#release();
    const truncated = this.#size > this.#maxBytes;
    const read = Buffer.concat(this.#chunks).subarray(0, this.#maxBytes);
    this.#settle({
      error,
      status: this.#status,
      headers: this.#headers,
      // A character that was cut in two is left out.
      body: new TextDecoder().decode(read, { stream: truncated }),
      truncated,
      sent: this.#controller !== null,
      durationMs: Math.max(0, Math.round(this.#clock.mono() - this.#startedAt)),
    });
    // Only after a whole answer is the connection fit for another request.
    if (error !== null || truncated) this.#controller?.abort(new Error("over"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It may have waited for a free connection longer than its whole time.
    if (this.#over) {
      controller.abort(new Error("over"));
    } else {
      this.#controller = controller;
      this.#onStart();
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      this.#headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.end(null);
  }

  onResponseEnd(): void {
    this.end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end(egressErrorOf(error));
  }

  #timeUp(): void {
    if (this.#controller === null) this.end("timeout_connect");
    else this.end(this.#status === null ? "timeout" : "body_too_slow");
  }
}
