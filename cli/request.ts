import { CommandError } from "./exit.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Seconds that the box asks to wait; 0: none. */
  readonly retryAfter: number;
}

export interface ApiRequest {
  readonly method: Method;
  /** From the slash on. */
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON; a text is sent as JSON lines. */
  readonly body?: unknown;
  /** The wanted type of the answer. Default: JSON. */
  readonly accept?: string;
}

let loading: ReturnType<typeof load> | undefined;

/** Loaded with the first request, because it would be most of a command's start. */
function client() {
  loading ??= load();
  return loading;
}

async function load() {
  const [{ default: Agent }, { default: request }] = await Promise.all([
    import("undici/lib/dispatcher/agent.js"),
    import("undici/lib/api/api-request.js"),
  ]);
  return request.bind(new Agent());
}

/** Sends one request to the box at `url`. Throws CommandError with the address where nothing answers. */
export async function send(url: string, message: ApiRequest): Promise<Reply> {
  const { method, path, token, body, accept } = message;
  const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
  const { origin, pathname, search } = new URL(url + path);
  const request = await client();
  const lost = (error: unknown) => {
    throw new NoAnswer(url, error);
  };
  const answer = await request({
    origin,
    path: pathname + search,
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": type }),
      ...(accept === undefined ? {} : { accept }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    headersTimeout: 90_000,
  }).catch(lost);
  const retryAfter = Number(answer.headers["retry-after"] ?? 0) || 0;
  const text = await answer.body.text().catch(lost);
  return { status: answer.statusCode, text, retryAfter };
}

/** No answer, or none that could be understood. */
export class NoAnswer extends CommandError {
  constructor(url: string, error: unknown) {
    super(`no answer from ${url}: ${why(url, error)}`);
  }
}

const REASONS: readonly (readonly [code: RegExp, reason: string])[] = [
  [
    /^ECONNREFUSED$/,
    "nothing listens there. Does the box run (box status)? --url or BOX_URL says where",
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "there is no such host; --url or BOX_URL says where the box is"],
  [/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "it can't be reached"],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, "it took the request and said nothing for 90 s"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|ERR_TLS_CERT)/,
    "its certificate isn't trusted here. NODE_EXTRA_CA_CERTS=FILE names an authority to trust",
  ],
  [/^(ERR_SSL_|EPROTO)/, "it doesn't speak TLS there. Should it be http:// and not https://?"],
  [
    /^(HPE_|UND_ERR_SOCKET|ECONNRESET)/,
    "the connection broke off. Should it be https:// and not http://?",
  ],
];

function why(url: string, error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const known = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  if (known === undefined) return message;
  return url.startsWith("https:")
    ? known.replace(" Should it be https:// and not http://?", "")
    : known;
}
