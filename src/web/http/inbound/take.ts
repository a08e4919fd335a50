import { factsOf } from "../../../core/alerts/alert.ts";
import { openSourceSecret } from "../../../core/projects/source-secrets.ts";
import type { Source } from "../../../core/projects/sources.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { type ErrorCode, ServiceError } from "../../../ground/kit/errors.ts";
import { uuid4, uuidOf } from "../../../ground/kit/ids.ts";
import {
  type Adapter,
  type AlertAsked,
  type AlertNotified,
  type Caps,
  type InRefusal,
  type InRequest,
  type SenderReply,
  type TakenCounts,
  UnreadableBody,
} from "../../../in/adapters/adapter.ts";
import { jsonReply, statusOf } from "../../../in/adapters/replies.ts";
import { latestNamed } from "../../../in/ingest/named.ts";
import { commitDecoded } from "../../../tenant/commit.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import { errorBody } from "../answer.ts";
import { RateLimited } from "../limits.ts";
import type { AppContext } from "../raw-route.ts";
import type { Serving } from "../serve-route.ts";
import { type Bodies, BrokeOff, NoCapacity } from "./bodies.ts";
import type { Decoding, Readable } from "./decoder.ts";
import { BadEncoding, inflated, TooLarge } from "./inflate.ts";
import { hearJobs } from "./jobs.ts";

export interface Sender {
  tenant: Tenant;
  source: Source;
}

interface InboundBatch {
  adapter: Adapter;
  sender: Sender;
  path: string;
  serving: Serving;
  /** The token, if it needed one: some write it into the body too, which is kept for managers to look at. */
  secret: string | null;
}

/** A body, inflated, and in memory until it is released. */
export interface OpenBody {
  whole: Buffer;
  release(): void;
}

/** Whose bodies they are, where many send at once. */
export const ownerOf = ({ tenant, source }: Sender) => `${tenant.id}:${source.id}`;

/** Reads a body within the caps. Throws what `refusalOf` knows. */
export async function openBody(
  c: AppContext,
  { bodies, owner, caps }: { bodies: Bodies; owner: string; caps: Caps },
): Promise<OpenBody> {
  const { body, hold, release } = await bodies.read(c.req.raw, { owner, most: caps.sent });
  try {
    const encoding = c.req.header("content-encoding");
    const whole = await inflated(body, encoding, { most: caps.inflated, hold });
    return { whole, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Makes events of a known sender's request, commits them and answers. */
export async function takeBody(
  c: AppContext,
  taking: InboundBatch,
  open: () => Promise<OpenBody>,
): Promise<SenderReply> {
  const { adapter, sender, path, serving } = taking;
  let sent: string | null = "";
  try {
    const { whole, release } = await open();
    try {
      sent = whole.subarray(0, 4096).toString("utf8");
      sent = masked(sent, taking.secret);
      if (adapter.isDescribed) keep(c, taking, whole);
      const readable = readableOf(c, { path, body: whole, sender });
      mustBeSigned(adapter, sender, readable.request);
      await adapter.believe?.(readable.request, sender.tenant.ask);
      const decoding = await serving.decoder.decode(adapter, readable, ownerOf(sender));
      try {
        const { ingest, ingestLast } = serving.limits;
        const limit = adapter.goesLast ? ingestLast : ingest;
        c.set("rateHeaders", limit.spend(sender.tenant.id, Math.max(1, decoding.events)));
        const asked = await commit(taking, decoding, sent);
        sent = null;
        return await decoding.answer(...asked);
      } finally {
        decoding.close();
      }
    } finally {
      release();
    }
  } catch (error) {
    return refused(c, taking, { error, sent });
  }
}

/** Throws where the source has a secret and the request isn't signed with it. */
function mustBeSigned(adapter: Adapter, { tenant, source }: Sender, request: InRequest): void {
  const { id, sealedSecret } = source;
  if (sealedSecret === null || adapter.isSigned === undefined) return;
  const secret = openSourceSecret(tenant.sealer, { id, sealedSecret });
  if (secret === null) {
    const message = "The source's signing secret can't be opened: set it again.";
    throw new UnreadableBody({ why: "unavailable", message });
  }
  if (!adapter.isSigned(request, secret)) throw new UnreadableBody({ why: "unauthorized" });
}

const masked = (text: string, secret: string | null) =>
  secret === null ? text : text.replaceAll(secret, "***");

/** Characters that a mapping is tried on, in bytes of any script. */
const KEPT = 4 * 16_384;

function keep(c: AppContext, { sender, secret }: InboundBatch, whole: Buffer): void {
  const { tenant, source } = sender;
  const body = masked(whole.subarray(0, KEPT).toString("utf8"), secret);
  const contentType = c.req.header("content-type") ?? "";
  tenant.ingest.received.note(source.id, { contentType, body });
}

function readableOf(
  c: AppContext,
  { path, body, sender }: { path: string; body: Buffer; sender: Sender },
): Readable {
  const request: InRequest = {
    method: c.req.method,
    path,
    query: new URL(c.req.url).searchParams,
    header: (name) => c.req.header(name),
    body,
    at: unixSeconds(sender.tenant.clock),
    options: sender.source.options,
    watched: () => sender.tenant.ingest.watched(sender.source.projectId),
    unique: () => uuid4(sender.tenant.store.random),
  };
  return { request, headers: c.req.header() };
}

/** What jobs said goes to their heartbeats first: what that leaves for the rules is committed with the rest. */
async function commit(
  { adapter, sender }: InboundBatch,
  decoding: Decoding,
  sent: string,
): Promise<[TakenCounts, AlertNotified | undefined]> {
  const whose = { ...sender, isLast: adapter.goesLast };
  const jobs = await hearJobs(sender, decoding.jobs);
  const rejected = [...decoding.rejected, ...jobs.rejected];
  const taken: TakenCounts = { accepted: jobs.heard, resolved: 0, rejected: 0 };
  const add = async (sendings: Parameters<typeof commitDecoded>[1]) => {
    const more = await commitDecoded(whose, sendings, sent);
    taken.accepted += more.accepted;
    taken.resolved += more.resolved;
    taken.rejected += more.rejected;
  };
  for await (const { events, ids } of decoding.parts())
    await add({ events, ...(ids === null ? {} : { ids }), rejected: [] });
  await add({ events: jobs.events, rejected });
  const { asks } = decoding;
  return [taken, asks === undefined ? undefined : askedAlert(sender, asks)];
}

function askedAlert({ tenant, source }: Sender, asks: AlertAsked): AlertNotified | undefined {
  const row = latestNamed(tenant.store, source, asks);
  if (row === null) return undefined;
  const { id, state, level, count, last_message, details, opened_at, last_seen } = factsOf(row);
  return {
    id,
    askedBy: uuidOf(`source ${source.id}`),
    state,
    level,
    count,
    message: last_message,
    details: details ?? "",
    dedupKey: row.dedup_key ?? "",
    openedAt: opened_at,
    lastSeen: last_seen,
  };
}

const CODES: Readonly<Record<InRefusal["why"], ErrorCode>> = {
  bad_request: "invalid_request",
  too_large: "body_too_large",
  unauthorized: "unauthorized",
  not_found: "not_found",
  method: "method_not_allowed",
  media_type: "unsupported_encoding",
  overloaded: "overloaded",
  unavailable: "sender_unavailable",
  internal: "internal",
};

/** The answer to what went wrong, in the sender's form; counted, and kept for whoever set it up to look at. `sent`: what the sender sent; null after the commit, which noted what it refused. */
function refused(
  c: AppContext,
  { adapter, sender }: InboundBatch,
  { error, sent }: { error: unknown; sent: string | null },
): SenderReply {
  const { tenant, source } = sender;
  const refusal = refusalOf(error);
  const code = CODES[refusal.why];
  if (refusal.why === "internal")
    tenant.log.error({ err: error, route: `/v1/in/${adapter.kind}` }, "request failed");
  const message = "message" in refusal ? refusal.message : code;
  if (sent !== null) tenant.ingest.refused.note(source, { code, message, body: sent });
  c.set("refusedAs", code);
  return replyTo(c, adapter, refusal);
}

/** A refusal in the sender's form, with what HTTP says of it: when to come again, what the path takes. */
export function replyTo(c: AppContext, adapter: Adapter, refusal: InRefusal): SenderReply {
  const reply = adapter.refuse?.(refusal, (name) => c.req.header(name)) ?? asTheApi(c, refusal);
  const headers = {
    ...(reply.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(refusal.why === "overloaded" ? { "retry-after": String(refusal.retryAfter) } : {}),
    ...(refusal.why === "unavailable" ? { "retry-after": "5" } : {}),
    ...(refusal.why === "method" ? { allow: refusal.allowed.join(", ") } : {}),
  };
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

/** The one shape of errors (contract §2); its status is one that senders repeat. */
function asTheApi(c: AppContext, refusal: InRefusal): SenderReply {
  const { status, message } = statusOf(refusal);
  const error = new ServiceError(CODES[refusal.why], message);
  return jsonReply(status, errorBody(error, c.get("requestId")));
}

/** What went wrong, as adapters put it into words. */
export function refusalOf(error: unknown): InRefusal {
  if (error instanceof UnreadableBody) return error.refusal;
  if (error instanceof TooLarge) return { why: "too_large" };
  if (error instanceof BrokeOff) return { why: "bad_request", message: "The body broke off." };
  if (error instanceof BadEncoding)
    return { why: "bad_request", message: "The body isn't what its Content-Encoding says." };
  if (error instanceof NoCapacity) return { why: "overloaded", retryAfter: 1 };
  const isLater = error instanceof ServiceError && (error.status === 429 || error.status === 503);
  if (error instanceof RateLimited || isLater)
    return { why: "overloaded", retryAfter: error.retryAfter ?? 1 };
  if (error instanceof ServiceError && error.code === "unauthorized")
    return { why: "unauthorized" };
  return { why: "internal" };
}
