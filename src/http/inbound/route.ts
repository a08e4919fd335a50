import type {
  Adapter,
  Decoded,
  InRefusal,
  InRequest,
  SenderReply,
} from "../../adapters/adapter.ts";
import { UnreadableBody } from "../../adapters/adapter.ts";
import { findAdapter } from "../../adapters/list.ts";
import { unixSeconds } from "../../kit/clock.ts";
import { type ErrorCode, ServiceError } from "../../kit/errors.ts";
import { parseToken, uuid4 } from "../../kit/ids.ts";
import type { Source } from "../../projects/sources.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { RateLimited } from "../limits.ts";
import type { AppContext } from "../raw-route.ts";
import type { Serving } from "../serve-route.ts";
import { BrokeOff, createBodies, NoRoom } from "./bodies.ts";
import { commitEvents } from "./commit.ts";
import { BadEncoding, inflated, TooLarge } from "./inflate.ts";
import { serveRead } from "./reads.ts";
import { findToken } from "./token.ts";

/** Everything below this path belongs to senders with formats of their own. */
export const INBOUND = "/v1/in";

interface Sender {
  tenant: Tenant;
  source: Source;
}

/**
 * `/v1/in/{kind}` and all below it (contract §23): who sends is found out before the body is read, the body is read
 * within its caps, and what its adapter makes of it is committed before the answer.
 */
export function createInbound(serving: Serving): (c: AppContext) => Promise<Response> {
  const bodies = createBodies();

  const serve = async (c: AppContext, adapter: Adapter, rest: string): Promise<SenderReply> => {
    const { token, path, conflict } = findToken({
      rest,
      header: (name) => c.req.header(name),
      query: new URL(c.req.url).searchParams,
    });
    const sender = conflict ? null : await findSender(serving, adapter, token);
    const read = await readOf(c, { adapter, serving, path, source: sender?.tenant ?? null });
    if (read !== null) return read;
    if (sender === null) return stranger(c, serving, adapter);
    serving.known(c);
    c.set("tenantId", sender.tenant.id);
    return take(c, { adapter, sender, path, serving, bodies });
  };

  return async (c) => {
    const [, kind = "", rest = ""] = /^\/v1\/in\/([^/]+)(\/.*)?$/.exec(c.req.path) ?? [];
    const adapter = findAdapter(kind);
    if (adapter === null) throw new ServiceError("not_found", "There is no such route.");
    return toResponse(await serve(c, adapter, rest));
  };
}

/** Some senders' programs also read; that takes a person's key, not a source's token. */
async function readOf(
  c: AppContext,
  { adapter, ...of }: { adapter: Adapter } & Parameters<typeof serveRead>[1],
): Promise<SenderReply | null> {
  return adapter.kind === "prometheus" ? serveRead(c, of) : null;
}

async function findSender(
  serving: Serving,
  adapter: Adapter,
  token: string | null,
): Promise<Sender | null> {
  if (token === null) return null;
  const long = parseToken(token);
  const tenant = long === null ? serving.ownTenant() : await serving.findTenant(long.tenant, token);
  const source = tenant?.ingest.authenticate(token) ?? null;
  return tenant === null || source === null || source.kind !== adapter.kind
    ? null
    : { tenant, source };
}

/** A wrong token costs its address, never the tenant that it names. */
function stranger(c: AppContext, serving: Serving, adapter: Adapter): SenderReply {
  serving.refusals.auth("ingest", c.req.header("authorization"));
  c.set("refusedAs", "unauthorized");
  c.set("rateHeaders", serving.limits.failures.spend(serving.address(c)));
  return adapter.refuse({ why: "unauthorized" });
}

interface Taking {
  adapter: Adapter;
  sender: Sender;
  path: string;
  serving: Serving;
  bodies: ReturnType<typeof createBodies>;
}

async function take(c: AppContext, taking: Taking): Promise<SenderReply> {
  const { adapter, sender, path, serving, bodies } = taking;
  let sent = "";
  try {
    const { body, release } = await bodies.read(c.req.raw, {
      ...{ owner: `${sender.tenant.id}:${sender.source.id}`, most: adapter.caps.sent },
    });
    try {
      const whole = await inflated(body, c.req.header("content-encoding"), adapter.caps.inflated);
      sent = whole.subarray(0, 4096).toString("utf8");
      const decoded = adapter.decode(requestOf(c, { path, body: whole, sender }));
      c.set(
        "rateHeaders",
        serving.limits.ingest.spend(sender.tenant.id, Math.max(1, decoded.events.length)),
      );
      return await commit(sender, decoded, sent);
    } finally {
      release();
    }
  } catch (error) {
    return refused(c, taking, { error, sent });
  }
}

function requestOf(
  c: AppContext,
  { path, body, sender }: { path: string; body: Buffer; sender: Sender },
): InRequest {
  return {
    method: c.req.method,
    path,
    query: new URL(c.req.url).searchParams,
    header: (name) => c.req.header(name),
    body,
    at: unixSeconds(sender.tenant.clock),
    options: sender.source.options,
    unique: () => uuid4(sender.tenant.store.random),
  };
}

/** Hands the events over and waits for their commit. */
async function commit(
  { tenant, source }: Sender,
  { events, rejected, answer }: Decoded,
  sent: string,
): Promise<SenderReply> {
  const resolved = await commitEvents({ tenant, source }, events);
  const [first] = rejected;
  if (first !== undefined)
    tenant.ingest.refused.note(
      source,
      { code: "invalid_request", message: first.reason, body: sent },
      rejected.length,
    );
  return answer({
    accepted: events.length,
    resolved,
    rejected: rejected.length,
  });
}

const CODES: Readonly<Record<InRefusal["why"], ErrorCode>> = {
  bad_request: "invalid_request",
  too_large: "body_too_large",
  unauthorized: "unauthorized",
  not_found: "not_found",
  method: "method_not_allowed",
  overloaded: "overloaded",
  internal: "internal",
};

/** The answer to what went wrong, in the sender's form; counted, and kept for whoever set it up to look at. */
function refused(
  c: AppContext,
  { adapter, sender }: Taking,
  { error, sent }: { error: unknown; sent: string },
): SenderReply {
  const { tenant, source } = sender;
  const refusal = refusalOf(error);
  const code = CODES[refusal.why];
  if (refusal.why === "internal")
    tenant.log.error({ err: error, route: `${INBOUND}/${adapter.kind}` }, "request failed");
  const message = "message" in refusal ? refusal.message : code;
  tenant.ingest.refused.note(source, { code, message, body: sent });
  c.set("refusedAs", code);
  const reply = adapter.refuse(refusal);
  const headers = {
    ...(refusal.why === "overloaded" ? { "retry-after": String(refusal.retryAfter) } : {}),
    ...(refusal.why === "method" ? { allow: refusal.allowed.join(", ") } : {}),
  };
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

function refusalOf(error: unknown): InRefusal {
  if (error instanceof UnreadableBody) return error.refusal;
  if (error instanceof TooLarge) return { why: "too_large" };
  if (error instanceof BrokeOff) return { why: "bad_request", message: "The body broke off." };
  if (error instanceof BadEncoding)
    return { why: "bad_request", message: "The body isn't what its Content-Encoding says." };
  if (error instanceof NoRoom) return { why: "overloaded", retryAfter: 1 };
  if (error instanceof RateLimited || (error instanceof ServiceError && error.status === 429))
    return { why: "overloaded", retryAfter: error.retryAfter ?? 1 };
  if (error instanceof ServiceError && error.code === "unauthorized")
    return { why: "unauthorized" };
  return { why: "internal" };
}

function toResponse({ status, headers = {}, body }: SenderReply): Response {
  return new Response(body === "" ? null : body, {
    status,
    headers: {
      ...(body === "" ? {} : { "content-type": "application/json" }),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}
