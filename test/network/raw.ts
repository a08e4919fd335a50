import { connect, type Socket } from "node:net";

/** One answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Exchange {
  answers: RawAnswer[];
  /** What is left over that is no whole answer. */
  rest: string;
  /** How the connection ended: by the server, with an error, or not within `patience`. */
  end: "closed" | "reset" | "open";
  ms: number;
}

export type Part = string | Buffer | number;

/** `text` in `n` pieces, each of which the server reads alone. */
export function inPieces(text: string | Buffer, n: number): Part[] {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / n);
  const piece = (i: number) => bytes.subarray(i * size, (i + 1) * size);
  return Array.from({ length: n }, (_, i) => [piece(i), 20]).flat();
}

/** The head of an event's request; `more` are fields that end in CRLF. */
export const ingestHead = (token: string, length: number, more = "") =>
  `POST /v1/ingest HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\n${more}\r\n`;

export const VERSION = "GET /v1/version HTTP/1.1\r\nHost: a\r\n\r\n";

/**
 * Writes the parts to a fresh connection and reads until the server ends it, until `enough` answers are
 * there, or until `patience` milliseconds have passed. A number among the parts is a pause.
 */
export function exchange(
  port: number,
  parts: readonly Part[],
  how: {
    patience?: number;
    enough?: number;
    methods?: readonly string[];
    halfClose?: boolean;
  } = {},
): Promise<Exchange> {
  const { patience = 5000, enough = Number.POSITIVE_INFINITY } = how;
  const started = performance.now();
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const finish = (end: Exchange["end"]) => {
    clearTimeout(timer);
    socket.destroy();
    const read = readAnswers(Buffer.concat(chunks), how.methods);
    resolve({ ...read, end, ms: performance.now() - started });
  };
  const timer = setTimeout(() => finish("open"), patience);
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (readAnswers(Buffer.concat(chunks), how.methods).answers.length >= enough) finish("open");
  });
  socket.on("end", () => finish("closed"));
  socket.on("close", () => finish("closed"));
  socket.on("error", () => finish("reset"));
  void write(socket, parts).then(() => how.halfClose && socket.end());
  return promise;
}

async function write(socket: Socket, parts: readonly Part[]): Promise<void> {
  for (const part of parts) {
    if (typeof part === "number") await new Promise((resolve) => setTimeout(resolve, part));
    else if (socket.writable) socket.write(part);
  }
}

/** Reads answers one after the other; `methods` tells which of them were to HEAD. */
export function readAnswers(
  bytes: Buffer,
  methods: readonly string[] = [],
): { answers: RawAnswer[]; rest: string } {
  const text = bytes.toString("latin1");
  const answers: RawAnswer[] = [];
  let at = 0;
  for (;;) {
    const end = text.indexOf("\r\n\r\n", at);
    const [line = "", ...fields] = text.slice(at, end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(line)?.[1] ?? Number.NaN);
    if (end === -1 || Number.isNaN(status)) return { answers, rest: text.slice(at) };
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(":");
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const isBare = status < 200 || status === 204 || methods[answers.length] === "HEAD";
    const length = isBare ? 0 : Number(headers["content-length"] ?? 0);
    const from = end + 4;
    if (text.length < from + length) return { answers, rest: text.slice(at) };
    answers.push({ status, headers, body: text.slice(from, from + length) });
    at = from + length;
  }
}
