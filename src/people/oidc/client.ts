import { LRUCache } from "lru-cache";
import type * as Library from "openid-client";
import { type Clock, systemClock } from "../../ground/kit/clock.ts";
import type { Egress } from "../../ground/kit/egress.ts";
import type { ProviderFlow } from "./flows.ts";
import { isPlainIssuer } from "./provider.ts";
import type { OpenProvider } from "./providers.ts";

/** The OIDC library, whose requests go through the guarded egress. It is loaded at the first sign-in. */

let loading: Promise<typeof Library> | undefined;
function library(): Promise<typeof Library> {
  loading ??= import("openid-client");
  return loading;
}

/**
 * Why a sign-in at a provider failed. `away`: it can't be reached; `denied`: the person declined; `refused`: the
 * provider declined; `clock`: its answer is too old, or the clocks differ; `wrong`: its answer is invalid.
 */
type ProviderFailure = "away" | "denied" | "refused" | "clock" | "wrong";

export class ProviderFault extends Error {
  readonly kind: ProviderFailure;
  /** A short word for the log, without any secret. */
  readonly reason: string;

  constructor(kind: ProviderFailure, reason: string) {
    super(`${kind}: ${reason}`);
    this.name = "ProviderFault";
    this.kind = kind;
    this.reason = reason;
  }
}

/** What a provider states about a person. */
export interface Identity {
  /** The issuer as the settings have it; a slash at the end may differ from the signed one. */
  issuer: string;
  subject: string;
  email: string | null;
  isVerified: boolean;
  name: string;
  groups: readonly string[];
}

export type ProviderClient = ReturnType<typeof createProviderClient>;

const TIMEOUT_MS = 8_000;
const MOST_BYTES = 256 * 1024;
/** How long metadata is cached; the provider's keys are read at every sign-in. */
const KEPT_MS = 60_000;
/** Seconds by which clocks may differ. */
const TOLERANCE = 60;

type Settings = Library.ServerMetadata;

export function createProviderClient(egress: Egress, clock: Clock) {
  const kept = new LRUCache<string, { settings: Settings; until: number }>({ max: 16 });
  const fetcher = fetchBy(egress);

  async function settingsOf(provider: OpenProvider): Promise<Settings> {
    const { issuer, client_id } = provider;
    const known = kept.get(issuer);
    if (known !== undefined && clock.mono() < known.until) return known.settings;
    const lib = await library();
    const execute = isPlainIssuer(issuer) ? [lib.allowInsecureRequests] : [];
    const how = { [lib.customFetch]: fetcher, execute };
    const found = await lib.discovery(new URL(issuer), client_id, undefined, lib.None(), how);
    const { supportsPKCE: _, ...settings } = found.serverMetadata();
    // The library lets a few services name another issuer.
    if (new URL(settings.issuer).href !== new URL(issuer).href)
      throw new ProviderFault("wrong", "issuer");
    kept.set(issuer, { settings, until: clock.mono() + KEPT_MS });
    return settings;
  }

  async function configOf(provider: OpenProvider): Promise<Library.Configuration> {
    const settings = await settingsOf(provider).catch((error) => {
      const fault = faultOf(error);
      throw fault.kind === "wrong" && fault.reason !== "issuer"
        ? new ProviderFault("away", fault.reason)
        : fault;
    });
    const lib = await library();
    const metadata = {
      // The library reads the machine's clock.
      [lib.clockSkew]: Math.round((clock.now() - systemClock.now()) / 1000),
      [lib.clockTolerance]: TOLERANCE,
    };
    const { client_id, secret, issuer } = provider;
    const config = new lib.Configuration(settings, client_id, metadata, authBy(lib, secret));
    config[lib.customFetch] = fetcher;
    config.timeout = TIMEOUT_MS / 1000;
    if (isPlainIssuer(issuer)) lib.allowInsecureRequests(config);
    // Checks the id token's signature although the token comes directly from the provider.
    lib.enableNonRepudiationChecks(config);
    return config;
  }

  return {
    /** Reads the provider's metadata again. Throws ProviderFault. */
    async look(provider: OpenProvider) {
      kept.delete(provider.issuer);
      await configOf(provider);
    },
    /** The address to which the browser is sent. Throws ProviderFault. */
    async lead(
      provider: OpenProvider,
      { state, nonce, verifier, redirectUri }: ProviderFlow,
    ): Promise<string> {
      const config = await configOf(provider);
      const lib = await library();
      const challenge = await lib.calculatePKCECodeChallenge(verifier);
      return await caught(async () => {
        const url = lib.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: provider.scopes.join(" "),
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: "S256",
        });
        if (url.protocol !== "https:" && !isPlainIssuer(provider.issuer))
          throw new ProviderFault("wrong", "authorization_endpoint");
        return url.href;
      });
    },
    /** The person who came back with this query. Throws ProviderFault. */
    async redeem(
      provider: OpenProvider,
      flow: ProviderFlow,
      query: URLSearchParams,
    ): Promise<Identity> {
      const config = await configOf(provider);
      const lib = await library();
      return await caught(async () => {
        const back = new URL(`${flow.redirectUri}?${query}`);
        const tokens = await lib.authorizationCodeGrant(config, back, {
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
          pkceCodeVerifier: flow.verifier,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new ProviderFault("wrong", "no id token");
        const asks = (settings: Settings) => settings.userinfo_endpoint !== undefined;
        const isThin = claims["email"] === undefined || needsGroups(provider, claims);
        const more =
          isThin && asks(config.serverMetadata())
            ? await lib.fetchUserInfo(config, tokens.access_token, claims.sub)
            : {};
        return identityOf(provider, { ...more, ...claims });
      });
    },
  };
}

const needsGroups = ({ roles, groups_claim }: OpenProvider, claims: Record<string, unknown>) =>
  Object.keys(roles).length > 0 && claims[groups_claim] === undefined;

function identityOf(
  { issuer, groups_claim }: OpenProvider,
  claims: { sub: string } & Record<string, unknown>,
): Identity {
  const { sub: subject, email, email_verified, name } = claims;
  const listed = claims[groups_claim];
  const groups = Array.isArray(listed) ? listed : [listed];
  return {
    issuer,
    subject,
    isVerified: email_verified === true,
    email: typeof email === "string" ? email : null,
    name: typeof name === "string" ? name : "",
    groups: groups.filter((group) => typeof group === "string").slice(0, 2000),
  };
}

/** By the HTTP header that every provider must support, unless the provider says that it doesn't. */
function authBy(lib: typeof Library, secret: string): Library.ClientAuth {
  if (secret === "") return lib.None();
  const [basic, post] = [lib.ClientSecretBasic(secret), lib.ClientSecretPost(secret)];
  return (settings, ...rest) => {
    const known = settings.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const isPost = !known.includes("client_secret_basic") && known.includes("client_secret_post");
    (isPost ? post : basic)(settings, ...rest);
  };
}

function fetchBy(egress: Egress): Library.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const { error, status, truncated, ...answer } = await egress.send({
      url,
      method,
      headers,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
      ...(body === null || body === undefined ? {} : { body: String(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (error !== null || status === null) throw new ProviderFault("away", error ?? "no answer");
    if (truncated) throw new ProviderFault("away", "too long");
    if (status >= 500) throw new ProviderFault("away", `status ${status}`);
    const hasBody = status >= 200 && status !== 204 && status !== 304;
    return new Response(hasBody ? answer.body : null, { status, headers: answer.headers });
  };
}

async function caught<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw faultOf(error);
  }
}

const WORD = /^[a-zA-Z0-9_ .-]{1,64}$/;
const wordOf = (value: unknown, otherwise: string) =>
  typeof value === "string" && WORD.test(value) ? value : otherwise;

/** Turns an error of the library, which can contain secrets, into a ProviderFault. */
function faultOf(error: unknown): ProviderFault {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof ProviderFault) return at;
  const { code, error: said, name } = error as Record<string, unknown>;
  if (code === "OAUTH_TIMEOUT" || code === "OAUTH_ABORT")
    return new ProviderFault("away", "timeout");
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return new ProviderFault("clock", "time");
  // From the query of the redirect, or from the token endpoint.
  if (said === "access_denied") return new ProviderFault("denied", "access_denied");
  if (said !== undefined) return new ProviderFault("refused", wordOf(said, "error"));
  return new ProviderFault("wrong", wordOf(code, wordOf(name, "error")));
}
