import type { Context } from "hono";
import { auditAction } from "../../ground/audit/record.ts";
import { check } from "../../ground/kit/check.ts";
import { type ErrorCode, ServiceError } from "../../ground/kit/errors.ts";
import { parseToken } from "../../ground/kit/ids.ts";
import { turns } from "../../ground/kit/turns.ts";
import { mustNotBeInDoubt } from "../../ground/store/durable.ts";
import { type Actor, ASSISTANT, findActor } from "../../people/actor.ts";
import { withIds } from "../../people/named.ts";
import { mustBeOwner, mustManage } from "../../people/roles.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { tenantAs } from "../../tenant/tenant-as.ts";
import { json } from "./answer.ts";
import { authorOf, type WrittenBy } from "./author.ts";
import { bearer, unauthorized } from "./bearer.ts";
import type { Decoder } from "./inbound/decoder.ts";
import type { Limits } from "./limits.ts";
import { decodeExactly, readBody, readBytes, readQuery } from "./read-request.ts";
import type { Refusals } from "./refusals.ts";
import type { Route, SessionAccount } from "./route.ts";
import type { SendOn } from "./send-on.ts";

const BODY_LIMIT = 128 * 1024;

/** What serving needs besides the route. */
export interface Serving {
  limits: Limits;
  /** Reads what senders with formats of their own send. */
  decoder: Decoder;
  /** Counts what is refused. */
  refusals: Refusals;
  /** The tenant a token's segment names; null where there is none. Box: its one tenant. */
  findTenant(segment: string, token: string): Promise<Tenant | null> | Tenant | null;
  /**
   * The tenant that a sender's short token or a heartbeat's address may be of, by its SHA-256: neither names one. null for
   * what is nobody's, where that is known. Throws ServiceError of status 429 or 503.
   */
  findLinked(hash: string): Promise<Tenant | null> | Tenant | null;
  /**
   * The tenant that a service calls back: by its segment of the address where there are many, null where there is none in
   * it. null for a segment that was not given out; nothing is opened for it.
   */
  findCalled(segment: string | null): Promise<Tenant | null> | Tenant | null;
  /** The tenant of routes without a bearer (the box's own); null on hosted. */
  ownTenant(): Tenant | null;
  /** The account that a session token stands for; absent where there is no account plane. */
  findSession?(token: string): Promise<SessionAccount | null>;
  address(c: Context): string;
  /** Sends a request on to the node that serves its tenant; absent where there are no other nodes. */
  sendOn?: SendOn | undefined;
  /** Who sent this request has shown who they are: their connection isn't closed to make room. */
  known(c: Context): void;
}

/** What one request's handling leaves for the app to put on its answer, whichever that is. */
export interface RequestVariables {
  requestId: string;
  /** Whose request it is, where that is known by no more than an id: for the log. */
  tenantId: string | undefined;
  /** Whose request it is. The answer waits for that tenant's commits. null: nothing of any store is in the answer. */
  tenant: Tenant | null | undefined;
  /** `RateLimit` and `RateLimit-Policy`, once a limit was asked (contract §9). */
  rateHeaders: Readonly<Record<string, string>> | undefined;
  /** The error code that it was refused with; set where the answer is a page, which has none. */
  refusedAs: ErrorCode | undefined;
}

type RequestContext = Context<{ Variables: RequestVariables }>;

const nobody: Actor = { accountId: "", keyId: "", role: "member" };

/**
 * Serves one route: authenticate, limit, role, then read and check what was sent, then the handler.
 * The order matters: nothing of a body is read for a stranger.
 */
export async function serveRoute(
  route: Route,
  serving: Serving,
  c: RequestContext,
): Promise<Response> {
  const address = serving.address(c);
  const opened = await open(route, serving, { c, address });
  if (route.plane !== "none") serving.known(c);
  if (route.limit) c.set("rateHeaders", serving.limits[route.limit].spend(address));
  const name = (value: unknown, places: readonly string[]) =>
    "tenant" in opened ? withIds(opened.tenant.store, value, places) : value;
  const sentParams = route.params ? check(route.params, c.req.param(), "path") : undefined;
  if (route.plane === "session")
    c.set("tenantId", (sentParams as { tid?: string } | undefined)?.tid);
  const params = name(sentParams, ["account"]);
  const query = route.query
    ? name(check(route.query, readQuery(new URL(c.req.url).search), "query"), ["account"])
    : undefined;
  const body = route.body ? name(await readChecked(route, c), route.people ?? []) : undefined;
  const headers = Object.fromEntries(
    (route.wantsHeaders ?? []).flatMap((name) => {
      const value = c.req.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const asked = { params, query, body, address, signal: c.req.raw.signal, headers };
  const isAssistant = c.req.header(ASSISTANT.header) === ASSISTANT.value;
  const call = { ...opened, ...asked, isAssistant };
  const work = `${route.method} ${route.path}`;
  const result = await turns.during(work, () => handleAsAuthor(route, call));
  if (result instanceof Response) return result;
  return json(route.status, result);
}

/** What a route that may write does to the tenant is done in the caller's name. */
async function handleAsAuthor(
  route: Route,
  call: (Opened | { account: SessionAccount }) & Omit<WrittenBy, "actor">,
): Promise<unknown> {
  if (route.method === "GET" || !("tenant" in call)) return route.handle(call as never);
  const author = authorOf(route, call);
  const result = await route.handle({ ...call, tenant: tenantAs(call.tenant, author) } as never);
  if (route.auditAlways) auditAction(call.tenant.store, author);
  return result;
}

interface Opened {
  tenant: Tenant;
  actor: Actor;
}

interface Caller {
  c: RequestContext;
  address: string;
}

async function open(
  route: Route,
  serving: Serving,
  { c, address }: Caller,
): Promise<Opened | { account: SessionAccount }> {
  if (route.plane === "session") return { account: await openSession(serving, { c, address }) };
  const opened =
    route.plane === "api" ? await openByKey(serving, c, address) : openNone(serving, c);
  // What people do to alerts is handed over.
  if (route.plane === "api" && route.method !== "GET" && route.tag !== "Alerts")
    mustNotBeInDoubt(opened.tenant.store);
  if (route.boxOnly && opened.tenant.role === "hosted") throw noSuchRoute();
  if (route.manager) mustManage(opened.actor.role);
  if (route.owner) mustBeOwner(opened.actor.role);
  return opened;
}

async function openSession(serving: Serving, { c, address }: Caller): Promise<SessionAccount> {
  const token = bearer(c.req.header("authorization"));
  const isSession = token !== null && parseToken(token)?.plane === "pts";
  const account = isSession ? ((await serving.findSession?.(token)) ?? null) : null;
  if (account === null) {
    serving.refusals.auth("session", c.req.header("authorization"));
    c.set("rateHeaders", serving.limits.failures.spend(address));
    throw unauthorized();
  }
  c.set("rateHeaders", serving.limits.api.spend(account.id));
  return account;
}

/** Whose API key it is. Throws 401, 429. */
export async function openByKey(
  serving: Serving,
  c: RequestContext,
  address: string,
): Promise<Opened> {
  const token = bearer(c.req.header("authorization"));
  const parsed = token === null ? null : parseToken(token);
  const tenant =
    token !== null && parsed?.plane === "ptk"
      ? await serving.findTenant(parsed.tenant, token)
      : null;
  c.set("tenant", tenant ?? undefined);
  const actor = tenant === null || token === null ? null : findActor(tenant.store, token);
  if (tenant === null || actor === null) {
    serving.refusals.auth("api", c.req.header("authorization"));
    c.set("rateHeaders", serving.limits.failures.spend(address));
    throw unauthorized();
  }
  tenant.keyUsed(actor.keyId);
  c.set("rateHeaders", serving.limits.api.spend(actor.keyId));
  return { tenant, actor };
}

function openNone(serving: Serving, c: RequestContext): Opened {
  const tenant = serving.ownTenant();
  if (tenant === null) throw noSuchRoute();
  c.set("tenant", tenant);
  return { tenant, actor: nobody };
}

function noSuchRoute(): ServiceError {
  return new ServiceError("not_found", "There is no such route.");
}

async function readChecked(route: Route, c: RequestContext): Promise<unknown> {
  const bytes = await readBytes(c.req.raw, route.bodyLimit ?? BODY_LIMIT);
  const { ownName: own } = route;
  const named = own === undefined ? {} : { [own]: c.req.param(own) ?? "" };
  const value = readBody(decodeExactly(bytes), route.readOnly, named);
  return route.body ? check(route.body, value, "body") : undefined;
}
