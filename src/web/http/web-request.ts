import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";

/** Headers by their names in lower case, what came twice joined. */
class AskedHeaders {
  readonly #values = new Map<string, string>();

  constructor(raw: readonly string[]) {
    for (let i = 0; i < raw.length; i += 2) {
      const name = (raw[i] ?? "").toLowerCase();
      const value = raw[i + 1] ?? "";
      const before = this.#values.get(name);
      const between = name === "cookie" ? "; " : ", ";
      this.#values.set(name, before === undefined ? value : before + between + value);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  forEach(each: (value: string, name: string) => void): void {
    this.#values.forEach(each);
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

/** One request of Node's as Hono and the handlers read it, in place of the runtime's own Request (`http-answer.ts` says why). */
class Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: AskedHeaders;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  #signal: AbortSignal | null = null;

  constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = incoming.method ?? "GET";
    this.url = url;
    this.headers = new AskedHeaders(incoming.rawHeaders);
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** Whoever stops reading leaves the rest to the door. */
  get body(): AsyncIterable<Uint8Array> | null {
    return this.method === "GET" || this.method === "HEAD" ? null : pieces(this.#incoming);
  }

  /** Aborts where the client is gone before it has its answer. */
  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal;
    const outgoing = this.#outgoing;
    const controller = new AbortController();
    this.#signal = controller.signal;
    const gone = () => {
      if (!outgoing.writableFinished) controller.abort();
    };
    if (outgoing.destroyed) gone();
    else outgoing.once("close", gone);
    return controller.signal;
  }
}

async function* pieces(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  // Who sent all of it and went away before it was read has still sent it.
  if (incoming.destroyed && incoming.complete && !incoming.readableDidRead) {
    const all = incoming.read() as Buffer | null;
    if (all !== null) yield all;
    return;
  }
  yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

/** The request; null where its address or its Host are none. HTTP/1.0 has no Host, and load balancers still ask that way. */
export function webRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request | null {
  const url = addressOf(incoming);
  return url === null ? null : (new Asked(url, incoming, outgoing) as unknown as Request);
}

function addressOf({ url: target = "", headers, socket }: IncomingMessage): string | null {
  const isWhole = /^https?:\/\//.test(target);
  if (!isWhole && !target.startsWith("/")) return null;
  // A browser would make it a slash, and so read another path than was sent.
  if (target.split("?", 1)[0]?.includes("\\")) return null;
  const host = headers.host || "localhost";
  const scheme = (socket as TLSSocket).encrypted ? "https" : "http";
  const url = URL.parse(isWhole ? target : `${scheme}://${host}${target}`);
  if (url === null) return null;
  const isHost = isWhole || url.hostname === host.replace(/:\d+$/, "").toLowerCase();
  return isHost ? url.href : null;
}
