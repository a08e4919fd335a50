/**
 * The answer that the app gives, in place of the runtime's own Response: making one of those loads the whole HTTP client of
 * the runtime, 3.7 MB of memory, and turns each text into a stream. It has what this program and Hono ask of an answer.
 */
type Content = string | Uint8Array | ReadableStream<Uint8Array> | null;

interface ReplyOptions {
  status?: number;
  headers?: Readonly<Record<string, string>> | Iterable<readonly [string, string]>;
}

const isPairs = (given: object): given is Iterable<readonly [string, string]> =>
  Symbol.iterator in given;

class PlainHeaders {
  readonly #values = new Map<string, string>();
  readonly #cookies: string[] = [];

  constructor(given: ReplyOptions["headers"] = {}) {
    for (const [name, value] of isPairs(given) ? given : Object.entries(given))
      this.append(name, value);
  }

  get(name: string): string | null {
    const key = name.toLowerCase();
    if (key !== "set-cookie") return this.#values.get(key) ?? null;
    return this.#cookies.length === 0 ? null : this.#cookies.join(", ");
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  set(name: string, value: string): void {
    this.delete(name);
    this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase();
    if (key === "set-cookie") this.#cookies.push(value);
    else {
      const before = this.#values.get(key);
      this.#values.set(key, before === undefined ? `${value}` : `${before}, ${value}`);
    }
  }

  delete(name: string): void {
    const key = name.toLowerCase();
    if (key === "set-cookie") this.#cookies.length = 0;
    else this.#values.delete(key);
  }

  getSetCookie(): string[] {
    return [...this.#cookies];
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    yield* this.#values;
    for (const cookie of this.#cookies) yield ["set-cookie", cookie];
  }

  entries(): Generator<[string, string]> {
    return this[Symbol.iterator]();
  }
}

class PlainReply {
  readonly status: number;
  readonly headers: PlainHeaders;
  readonly content: Content;

  constructor(content: Content, { status = 200, headers }: ReplyOptions = {}) {
    this.content = content;
    this.status = status;
    this.headers = new PlainHeaders(headers);
    if (typeof content === "string" && !this.headers.has("content-type"))
      this.headers.set("content-type", "text/plain;charset=UTF-8");
  }

  get body(): ReadableStream<Uint8Array> | null {
    const { content } = this;
    if (typeof content !== "string" && !(content instanceof Uint8Array)) return content;
    return new Blob([Buffer.from(content)]).stream();
  }

  async text(): Promise<string> {
    const { content } = this;
    if (content === null || typeof content === "string") return content ?? "";
    return new TextDecoder().decode(await this.bytes());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async bytes(): Promise<Uint8Array> {
    return Buffer.concat(await Array.fromAsync(this.body ?? []));
  }
}

/** To Hono they are a Response and its Headers. */
export const HttpAnswer = PlainReply as unknown as new (
  content: Content,
  options?: ReplyOptions,
) => Response;
export const HttpHeaders = PlainHeaders as unknown as new (
  given?: ReplyOptions["headers"],
) => Headers;

/** What an answer sends, as it was given. The runtime's own have a stream: those of assistants, and Hono's to HEAD. */
export const contentOf = (answer: Response): Content =>
  (answer as unknown) instanceof PlainReply
    ? (answer as unknown as PlainReply).content
    : answer.body;
