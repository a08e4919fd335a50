import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { CommandError } from "./exit.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Seconds that the box asks to wait; 0: none. */
  readonly retryAfter: number;
}

interface ApiRequest {
  readonly method: Method;
  /** From the slash on. */
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON; a text is sent as JSON lines. */
  readonly body?: unknown;
  /** The wanted type of the answer. Default: JSON. */
  readonly accept?: string;
  /** Further ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

const CONNECT_MS = 10_000;
/** How long a box may say nothing. */
const SILENT_MS = 90_000;

/** They keep a connection for a command's next request, and no proxy variable has a say. */
const agents = {
  http: new http.Agent({ keepAlive: true }),
  https: new https.Agent({ keepAlive: true }),
};

/** Sends one request to the box at `url`. Throws CommandError with the address where nothing answers. */
export async function send(url: string, message: ApiRequest): Promise<Reply> {
  const { method, path, token, body, accept, headers: more } = message;
  const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const headers = {
    ...more,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(text === undefined ? {} : { "content-type": type }),
    ...(text === undefined ? {} : { "content-length": Buffer.byteLength(text) }),
    ...(accept === undefined ? {} : { accept }),
  };
  try {
    const answer = await answered(new URL(url + path), { method, headers }, text);
    const retryAfter = Number(answer.headers["retry-after"] ?? 0) || 0;
    const chunks: Buffer[] = await answer.toArray();
    return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), retryAfter };
  } catch (error) {
    throw new NoAnswer(url, error);
  }
}

function answered(
  url: URL,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> {
  const [by, agent] = url.protocol === "https:" ? [https, agents.https] : [http, agents.http];
  return new Promise((resolve, reject) => {
    const request = by.request(url, { ...options, agent, timeout: CONNECT_MS });
    request.on("socket", (socket) => {
      const wait = () => void socket.setTimeout(SILENT_MS);
      if (socket.connecting) socket.once("connect", wait);
      else wait();
    });
    request.on("timeout", () => {
      const code = request.socket?.connecting ? "ETIMEDOUT" : SILENT;
      request.destroy(Object.assign(new Error(code), { code }));
    });
    request.on("error", reject);
    request.on("response", resolve);
    request.end(body);
  });
}

/** The error's code where the box accepted the request and didn't answer. */
const SILENT = "SILENT";

/** No answer, or none that could be understood. */
export class NoAnswer extends CommandError {
  constructor(url: string, error: unknown) {
    super(`no answer from ${url}: ${why(url, error)}`);
  }
}

const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [
    /^ECONNREFUSED$/,
    "nothing listens there. Is the box running (box status)? --url or BOX_URL says where",
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "there is no such host; --url or BOX_URL says where the box is"],
  [/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/, "it can't be reached"],
  [/^SILENT$/, "it accepted the request and didn't answer for 90 s"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    "its certificate isn't trusted here. NODE_EXTRA_CA_CERTS=FILE names an authority to trust",
  ],
  [/^(ERR_SSL_|EPROTO)/, "it doesn't speak TLS there. Should it be http:// and not https://?"],
  [/^(HPE_|ECONNRESET)/, "the connection broke off. Should it be https:// and not http://?"],
];

function why(url: string, error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const known = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  if (known === undefined) return message;
  return url.startsWith("https:")
    ? known.replace(" Should it be https:// and not http://?", "")
    : known;
}
