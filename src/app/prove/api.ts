import { Agent, request } from "node:http";

/** An answer of the scratch box. */
export interface ApiReply {
  status: number;
  body: string;
}

/** One client for the whole run. The box's address changes with each start, and each kill ends its connections. */
export interface Api {
  /** Sets the box's present address. */
  at(url: string): void;
  /** Sends a request with the owner's key. Rejects where no whole answer came. */
  call(method: string, path: string, body?: unknown): Promise<ApiReply>;
  /** As `call`, but returns the parsed JSON. Rejects for every status but 2xx. */
  need(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Sends a body unchanged, with another token. */
  send(path: string, how: { bearer: string; type: string; body: string }): Promise<ApiReply>;
  /** Whether the machine at this address serves the box. */
  serves(url: string): Promise<boolean>;
  /** The API key. */
  key: string;
  close(): void;
}

/** Longer than any answer of a working box. */
const PATIENCE_MS = 30_000;

export function createApi(): Api {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let base = "";

  const send: Api["send"] = (path, { bearer, type, body }) =>
    post(agent, { method: "POST", url: base + path, bearer, type, body });

  const api: Api = {
    key: "",
    at(url) {
      base = url;
    },
    call: (method, path, body) =>
      post(agent, {
        method,
        url: base + path,
        bearer: api.key,
        type: "application/json",
        body: body === undefined ? null : JSON.stringify(body),
      }),
    async need(method, path, body) {
      const reply = await api.call(method, path, body);
      if (reply.status >= 200 && reply.status < 300)
        return JSON.parse(reply.body || "{}") as Record<string, unknown>;
      throw new Error(`${method} ${path} was answered ${reply.status}: ${reply.body}`);
    },
    send,
    serves: (url) =>
      post(agent, { method: "GET", url: `${url}/v1/role`, bearer: "", type: "", body: null }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    close: () => agent.destroy(),
  };
  return api;
}

interface Sent {
  method: string;
  url: string;
  bearer: string;
  type: string;
  body: string | null;
}

function post(agent: Agent, { method, url, bearer, type, body }: Sent): Promise<ApiReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiReply>();
  const headers = {
    ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }),
    ...(body === null
      ? {}
      : { "content-type": type, "content-length": String(Buffer.byteLength(body)) }),
  };
  const sent = request(url, { method, headers, agent, timeout: PATIENCE_MS }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("error", reject);
    answer.on("end", () => {
      // A cut connection ends the answer too.
      if (!answer.complete) return reject(new Error("the answer was cut"));
      resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
    });
    answer.on("close", () => reject(new Error("the answer was cut")));
  });
  sent.on("error", reject);
  sent.on("timeout", () => sent.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} s`)));
  sent.end(body ?? undefined);
  return promise;
}
