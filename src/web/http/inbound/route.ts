import { senderKeyHash } from "../../../core/projects/sources.ts";
import { ElsewhereError } from "../../../ground/kit/elsewhere.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { parseToken } from "../../../ground/kit/ids.ts";
import type { Adapter, SenderReply } from "../../../in/adapters/adapter.ts";
import { adapters, findAdapter } from "../../../in/adapters/list.ts";
import { SECRET_ADDRESS } from "../answer.ts";
import { RateLimited } from "../limits.ts";
import type { AppContext } from "../raw-route.ts";
import type { Serving } from "../serve-route.ts";
import { type Bodies, createBodies } from "./bodies.ts";
import { serveRead } from "./reads.ts";
import { openBody, ownerOf, refusalOf, replyTo, type Sender, takeBody } from "./take.ts";
import { type FoundToken, findToken } from "./token.ts";

/** Everything below this path belongs to senders with formats of their own. */
export const INBOUND = "/v1/in";

const MIB = 1024 * 1024;
/**
 * Bytes of bodies that are in memory at once, as they came and inflated, in all and of one sender: room for the longest
 * that any adapter takes. Less of those who are yet to say who they are.
 */
const SENDERS = { all: 96 * MIB, each: 56 * MIB };
const STRANGERS = { all: 8 * MIB, each: 2 * MIB };
/** Of those who are refused last: what others send takes none of it. */
const LAST = { all: 16 * MIB, each: 8 * MIB };
const STRANGERS_BODY = MIB / 2;

/** A port that is one kind of sender's alone. */
export interface SendersPort {
  kind: string;
  /** Whose requests without a token are; null for nobody's. */
  bound(): Sender | null;
  mayComeFrom(address: string): boolean;
}

/**
 * The doors for senders with formats of their own. `/v1/in/{kind}` and all below it (contract §23): who sends is
 * found out before the body is read, the body is read within its caps, and what its adapter makes of it is
 * committed before the answer.
 */
export function createInbound(serving: Serving) {
  const bodies = createBodies(SENDERS);
  const last = createBodies(LAST);
  const strangers = createBodies(STRANGERS);

  const serve = async (c: AppContext, { adapter, rest, bound }: Asked): Promise<SenderReply> => {
    if (c.req.method === "OPTIONS" && adapter.preflight !== undefined)
      return { status: 200, headers: adapter.preflight, body: "" };
    const found = findToken({
      rest,
      header: (name) => c.req.header(name),
      query: new URL(c.req.url).searchParams,
    });
    const keyed = await findKeyed(serving, adapter, found);
    const { token, path, conflict } = keyed ?? found;
    const sender = conflict
      ? null
      : token === null && bound !== undefined
        ? bound()
        : (keyed?.sender ?? (await findSender(serving, adapter, token)));
    const read = await readOf(c, { adapter, serving, path, sender, bodies: strangers });
    if (read !== null) return read;
    if (sender !== null && sender.source.kind === adapter.kind) {
      known(c, serving, sender);
      const owner = ownerOf(sender);
      return takeBody(c, { adapter, sender, path, serving, secret: token }, () =>
        openBody(c, { bodies: adapter.goesLast ? last : bodies, owner, caps: adapter.caps }),
      );
    }
    return token === null && adapter.tokenIn !== undefined
      ? takeByBody(c, { adapter, path, serving, strangers })
      : stranger(c, serving, adapter);
  };

  /** Whose tenant can't be opened at this moment is told so in the form that their program understands. */
  const answer = async (c: AppContext, asked: Asked): Promise<SenderReply> => {
    const { adapter } = asked;
    try {
      return await serve(c, asked);
    } catch (error) {
      if (error instanceof ElsewhereError) throw error;
      const refusal = error instanceof RateLimited ? null : refusalOf(error);
      if (refusal?.why !== "overloaded") throw error;
      c.set("refusedAs", error instanceof ServiceError ? error.code : "overloaded");
      return replyTo(c, adapter, refusal);
    }
  };

  return {
    /** `/v1/in/{kind}` and all below it. */
    async ours(c: AppContext): Promise<Response> {
      const [, kind = "", rest = ""] = /^\/v1\/in\/([^/]+)(\/.*)?$/.exec(c.req.path) ?? [];
      const adapter = findAdapter(kind);
      if (adapter === null) throw new ServiceError("not_found", "There is no such route.");
      return toResponse(await answer(c, { adapter, rest }));
    },
    /** The addresses that senders insist on; null where the path is none of those. */
    async theirs(c: AppContext): Promise<Response | null> {
      for (const adapter of adapters) {
        const rest = adapter.fixed?.(c.req.path) ?? null;
        if (rest !== null) return toResponse(await answer(c, { adapter, rest }));
      }
      return null;
    },
    /** A port of senders of one kind: everything there is theirs. */
    async only(c: AppContext, { kind, bound, mayComeFrom }: SendersPort): Promise<Response> {
      const adapter = findAdapter(kind);
      if (adapter === null || !mayComeFrom(serving.address(c))) {
        c.set("refusedAs", "forbidden");
        return toResponse({ status: 403, body: "" });
      }
      return toResponse(await answer(c, { adapter, rest: c.req.path, bound }));
    },
  };
}

/** What is asked of which adapter: `rest` is the path behind its address, `bound` whose a request without a token is. */
interface Asked {
  adapter: Adapter;
  rest: string;
  bound?: SendersPort["bound"];
}

/** Some senders' programs also read, and make silences; that takes a person's key, not a source's token. */
async function readOf(
  c: AppContext,
  { adapter, ...of }: { adapter: Adapter } & Parameters<typeof serveRead>[1],
): Promise<SenderReply | null> {
  return adapter.kind === "prometheus" ? serveRead(c, of) : null;
}

/** Who a key of an earlier tool belongs to, and the request as if it were a token; null where none is known. */
async function findKeyed(serving: Serving, adapter: Adapter, { keys }: FoundToken) {
  for (const { key, path } of keys) {
    const sender = await findSender(serving, adapter, key);
    if (sender !== null) return { sender, token: key, path, conflict: false };
  }
  return null;
}

async function findSender(
  serving: Serving,
  adapter: Adapter,
  token: string | null,
): Promise<Sender | null> {
  if (token === null) return null;
  const long = parseToken(token);
  const hash = long === null ? senderKeyHash(token) : null;
  if (long === null && hash === null) return null;
  const tenant =
    hash === null
      ? await serving.findTenant(long?.tenant ?? "", token)
      : await serving.findLinked(hash);
  const source = tenant?.ingest.authenticate(token) ?? null;
  return tenant === null || source === null || source.kind !== adapter.kind
    ? null
    : { tenant, source };
}

function known(c: AppContext, serving: Serving, { tenant }: Sender): void {
  serving.known(c);
  c.set("tenant", tenant);
}

/** Who sends is said in the body: it is read, within less, before that is known. */
async function takeByBody(
  c: AppContext,
  of: { adapter: Adapter; path: string; serving: Serving; strangers: Bodies },
): Promise<SenderReply> {
  const { adapter, path, serving, strangers } = of;
  const owner = serving.address(c);
  const most = { sent: STRANGERS_BODY, inflated: STRANGERS_BODY };
  try {
    const { whole, release } = await openBody(c, { bodies: strangers, owner, caps: most });
    try {
      const secret = adapter.tokenIn?.(whole) ?? "";
      const sender = await findSender(serving, adapter, secret);
      if (sender === null) return stranger(c, serving, adapter);
      known(c, serving, sender);
      const open = async () => ({ whole, release: () => {} });
      return await takeBody(c, { adapter, sender, path, serving, secret }, open);
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return replyTo(c, adapter, refusalOf(error));
  }
}

/** A wrong token costs its address, never the tenant that it names. */
function stranger(c: AppContext, serving: Serving, adapter: Adapter): SenderReply {
  serving.refusals.auth("ingest", c.req.header("authorization"));
  c.set("refusedAs", "unauthorized");
  c.set("rateHeaders", serving.limits.strangers.spend(serving.address(c)));
  return replyTo(c, adapter, { why: "unauthorized" });
}

function toResponse({ status, headers = {}, body }: SenderReply): Response {
  return new Response(body === "" ? null : body, {
    status,
    headers: {
      ...(body === "" ? {} : { "content-type": "application/json" }),
      ...SECRET_ADDRESS,
      ...headers,
    },
  });
}
