import { generateKeyPairSync, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Configuration, JWK } from "oidc-provider";
import { hexId } from "../../src/ground/kit/ids.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";

export const CLIENT = { id: "box", secret: "canary-client-secret-5e1d" };

/** What a provider says of somebody, by what they type as their login. */
export type Claims = Record<string, unknown>;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on a port of its own whose answers may change. */
async function served(first: Handler) {
  let handler = first;
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer(next: Handler) {
      handler = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const kid = () => hexId(systemRandom);
const asJwk = (key: ReturnType<typeof newKey>["privateKey"], id: string): JWK =>
  ({ ...key.export({ format: "jwk" }), kid: id, alg: "ES256", use: "sig" }) as JWK;

/** A real provider, with its own pages for signing in. */
export async function realProvider(people: Record<string, Claims>, redirectUris: string[]) {
  const server = await served((_, response) => response.writeHead(503).end());
  const { default: Provider } = await quietly(() => import("oidc-provider"));
  const make = () => {
    const configuration: Configuration = {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: redirectUris,
          id_token_signed_response_alg: "ES256",
          application_type: "native",
        },
      ],
      jwks: { keys: [asJwk(newKey().privateKey, kid())] },
      cookies: { keys: [kid()] },
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      scopes: ["openid", "email", "profile", "groups"],
      claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
      enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    };
    const provider = new Provider(server.url, configuration);
    server.answer(provider.callback());
  };
  await quietly(make);
  return {
    issuer: server.url,
    /** New keys, and nobody is remembered. */
    rotate: () => quietly(make),
    down: () => server.answer((_, response) => response.writeHead(503).end()),
    close: server.close,
  };
}

/** It warns of its own pages for development, which are what is wanted here. */
async function quietly<T>(work: () => T | Promise<T>): Promise<T> {
  const { warn, info } = console;
  Object.assign(console, { warn() {}, info() {} });
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, info });
  }
}

/**
 * What a browser does at a provider, from the address that it was sent to: says who it is and agrees, or `cancel`s. The address that it is
 * sent back to.
 */
export async function atProvider(
  start: string,
  login: string,
  { cancel = false } = {},
): Promise<string> {
  const { origin } = new URL(start);
  const jar = new Map<string, string>();
  const ask = async (url: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", ...init, headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  let answer = await ask(start);
  for (let step = 0; step < 12; step++) {
    const to = answer.headers.get("location");
    if (to !== null) {
      const next = new URL(to, start);
      if (next.origin !== origin) return next.href;
      answer = await ask(next.href);
      continue;
    }
    const page = await answer.text();
    const [, submit] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
    if (submit === undefined) throw new Error(`the provider says ${answer.status}: ${page}`);
    const action = new URL(submit, start).href;
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? "";
    answer = cancel
      ? await ask(`${action}/abort`)
      : await ask(action, {
          method: "POST",
          body: new URLSearchParams({ prompt, login, password: "any" }),
        });
  }
  throw new Error("the provider leads nowhere");
}

/** How a provider that means no good answers; everything else is as it should be. */
export interface Lie {
  /** Put over the id token's claims. */
  claims?: Claims;
  header?: Claims;
  /** Signs with a key that its list doesn't hold. */
  isForged?: boolean;
  /** In place of the whole answer of one of its addresses. */
  answers?: Partial<Record<"settings" | "token" | "keys" | "userinfo", Handler>>;
  settings?: Claims;
}

/** A provider that lies as it is told: no page, only what the box asks. */
export async function hostileProvider() {
  const [own, other] = [newKey(), newKey()];
  const id = kid();
  let lie: Lie = {};
  let nonce = "";
  let at = 0;
  const asked: string[] = [];
  const server = await served((request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    asked.push(path);
    const json = (body: unknown) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const answers: Record<string, [keyof NonNullable<Lie["answers"]>, () => unknown]> = {
      "/.well-known/openid-configuration": ["settings", () => settings()],
      "/token": ["token", () => tokens()],
      "/keys": ["keys", () => ({ keys: [publicJwk()] })],
      "/userinfo": ["userinfo", () => ({ sub: "eve" })],
    };
    const [name, body] = answers[path] ?? [];
    const own = name === undefined ? undefined : lie.answers?.[name];
    if (own !== undefined) own(request, response);
    else if (body === undefined) response.writeHead(404).end();
    else json(body());
  });
  const publicJwk = () => {
    const { d: _, ...jwk } = asJwk(own.privateKey, id) as JWK & { d: string };
    return jwk;
  };
  const settings = () => ({
    issuer: server.url,
    authorization_endpoint: `${server.url}/authorize`,
    token_endpoint: `${server.url}/token`,
    jwks_uri: `${server.url}/keys`,
    userinfo_endpoint: `${server.url}/userinfo`,
    id_token_signing_alg_values_supported: ["ES256"],
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    authorization_response_iss_parameter_supported: true,
    ...lie.settings,
  });
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const tokens = () => {
    const claims = {
      iss: server.url,
      aud: CLIENT.id,
      sub: "ann",
      nonce,
      iat: at,
      exp: at + 300,
      email: "ann@example.org",
      email_verified: true,
      ...lie.claims,
    };
    const head = `${part({ alg: "ES256", kid: id, ...lie.header })}.${part(claims)}`;
    const key = (lie.isForged ? other : own).privateKey;
    const signature = sign("sha256", Buffer.from(head), { key, dsaEncoding: "ieee-p1363" });
    const idToken = `${head}.${signature.toString("base64url")}`;
    return {
      access_token: "canary-access-token-7c",
      token_type: "Bearer",
      expires_in: 60,
      id_token: idToken,
    };
  };
  return {
    issuer: server.url,
    asked,
    close: server.close,
    /** From now on; `now`: Unix seconds by its clock. */
    lies(next: Lie, now: number) {
      lie = next;
      at = now;
    },
    /** As if somebody had signed in there: where their browser is sent back to. */
    passed(start: string, query: Record<string, string> = {}): string {
      const sent = new URL(start).searchParams;
      nonce = sent.get("nonce") ?? "";
      const back = new URL(sent.get("redirect_uri") ?? "");
      const usual = { code: "canary-code-3b", state: sent.get("state") ?? "", iss: server.url };
      back.search = String(new URLSearchParams({ ...usual, ...query }));
      return back.href;
    },
  };
}
