import { Hono } from "hono";
import { version } from "../../ground/kit/assets.ts";
import { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Log } from "../../ground/kit/log.ts";
import { pathForm } from "../../ground/kit/path-form.ts";
import type { Random } from "../../ground/kit/random.ts";
import { turns } from "../../ground/kit/turns.ts";
import { refusedPage } from "../../ground/page/refused-page.ts";
import { mayTell } from "../../ground/store/durable.ts";
import { prefersJson, wantsPage } from "./accept.ts";
import { errorAnswer, internalError } from "./answer.ts";
import { createInbound, INBOUND, type SendersPort } from "./inbound/route.ts";
import { RateLimited } from "./limits.ts";
import { createPing, PING } from "./ping.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { isLoud, nounOf, type Refusals } from "./refusals.ts";
import type { Route } from "./route.ts";
import { answeredElsewhere } from "./send-on.ts";
import { type RequestVariables, type Serving, serveRoute } from "./serve-route.ts";
import { createTwilio, TWILIO } from "./twilio.ts";

export type App = Hono<{ Variables: RequestVariables }>;

/** PagesHandler that stand beside the routes, asked for what no route takes. null: it isn't theirs. */
export type PagesHandler = (c: AppContext) => Promise<Response | null>;

interface AppOptions {
  routes: readonly Route[];
  raw: readonly RawRoute[];
  serving: Serving;
  log: Log;
  random: Random;
  /** Whether senders' own addresses are served too, beside `/v1/in`. */
  fixedAddresses?: boolean;
  /** The pages for people; null for what isn't theirs. */
  pages?: PagesHandler;
  /** It is the app of a port of senders of one kind, and serves nothing else. */
  only?: SendersPort;
}

/** The program's HTTP side as a function from request to response. */
export function createApp(options: AppOptions): App {
  const app: App = new Hono();
  const routes = [...options.routes, ...options.raw];
  const table = methodTable(routes);
  const { refusals } = options.serving;
  const nouns = new Set([INBOUND, PING, ...routes.map(({ path }) => path)].map(nounOf));

  app.use(async (c, next) => {
    c.set("requestId", hexId(options.random));
    await next();
    await held(c, options.serving);
    count(c, refusals, nouns);
    c.header("X-Request-Id", c.get("requestId"));
    for (const [name, value] of Object.entries(c.get("rateHeaders") ?? {})) c.header(name, value);
  });
  app.use(async (c, next) => {
    refuseBadPath(c);
    refuseHead(c, table);
    await next();
  });
  const inbound = createInbound(options.serving);
  const { only } = options;
  if (only !== undefined) app.all("*", (c) => inbound.only(c, only));
  app.all(`${TWILIO}/*`, createTwilio(options.serving));
  app.all(`${INBOUND}/*`, inbound.ours);
  const pings = createPing(options.serving);
  app.all(`${PING}/*`, pings.ours);
  for (const raw of options.raw)
    app.on(raw.method, honoPath(raw.path), (c) => {
      if (raw.waitsForNothing) c.set("tenant", null);
      return turns.during(`${raw.method} ${raw.path}`, () => raw.handle(c));
    });
  for (const route of options.routes) {
    app.on(route.method, honoPath(route.path), (c) => serveRoute(route, options.serving, c));
  }
  app.notFound(async (c) => {
    const allowed = table.allowed(c.req.path);
    if (allowed.length > 0) return withId(c, methodNotAllowed(c, allowed));
    const page = (await options.pages?.(c)) ?? null;
    if (page !== null) return withId(c, page);
    const taken = options.fixedAddresses
      ? ((await pings.theirs(c)) ?? (await inbound.theirs(c)))
      : null;
    if (taken !== null) return taken;
    // A listener for senders alone says nothing.
    const isOwn = options.routes.length > 0 && c.req.path === "/" && c.req.method === "GET";
    if (isOwn && !prefersJson(c.req.header("accept"))) return withId(c, c.text(WHERE));
    c.set("refusedAs", "not_found");
    const error = new ServiceError("not_found", "There is no such route.");
    return withId(c, errorAnswer(error, id(c)));
  });
  app.onError(async (error, c) => {
    const { sendOn } = options.serving;
    const answer = error instanceof ElsewhereError && (await answeredElsewhere(c, sendOn, error));
    if (answer) return answer;
    const refused = toAnswer(error, c, options.log);
    return withId(c, options.pages === undefined ? refused : forReaders(error, c, refused));
  });
  return app;
}

/** What `curl` prints of the address itself; a browser gets the console's page before. */
const WHERE = `box ${version}, an alert appliance. Its pages open in a browser at this address.
For programs: /v1/openapi.json (interface), /healthz (alive), /readyz (ready).
`;

/**
 * Holds an answer until what it tells is durable; one that can't wait longer is refused. On a box every answer waits that
 * isn't known to say nothing of the store. Answers made piece by piece hold their further pieces themselves.
 */
async function held(c: AppContext, serving: Serving): Promise<void> {
  const tenant = c.get("tenant") === undefined ? serving.ownTenant() : c.get("tenant");
  const waiting = tenant ? mayTell(tenant.store) : null;
  if (waiting === null) return;
  try {
    await waiting;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    void c.res.body?.cancel();
    c.res = undefined;
    c.set("refusedAs", error.code);
    c.res = errorAnswer(error, id(c));
  }
}

/** Notes an answer that refuses; the door of the events counts its own. */
function count(c: AppContext, refusals: Refusals, nouns: ReadonlySet<string>): void {
  const { status } = c.res;
  if (status < 400 || c.req.path === "/v1/ingest") return;
  const noun = nounOf(c.req.path);
  const code = c.get("refusedAs") ?? String(status);
  refusals.request(
    { class: nouns.has(noun) ? noun : "none", code, ...whose(c) },
    // Who opens nothing was counted, and told, as that.
    { loud: isLoud(status) && code !== "unauthorized" },
  );
  if (code === "pairing_refused") refusals.auth("pairing", undefined);
}

function toAnswer(error: unknown, c: AppContext, log: Log): Response {
  if (error instanceof MethodRefused) return methodNotAllowed(c, error.allowed);
  if (error instanceof ServiceError) {
    c.set("refusedAs", error.code);
    const answer = errorAnswer(error, id(c));
    if (error instanceof RateLimited)
      for (const [name, value] of Object.entries(error.headers)) answer.headers.set(name, value);
    return answer;
  }
  log.error(
    { request_id: id(c), method: c.req.method, route: c.req.routePath, ...whose(c), err: error },
    "request failed",
  );
  c.set("refusedAs", "internal");
  return errorAnswer(internalError, id(c));
}

/** The same for people: whoever asks for a page isn't answered in JSON. A page's own script is, and so is the interface. */
function forReaders(error: Error, c: AppContext, answer: Response): Response {
  if (
    !wantsPage(c.req.header("accept")) ||
    c.req.path.startsWith("/v1/") ||
    c.req.header("x-sections") !== undefined
  )
    return answer;
  const shown = error instanceof ServiceError ? error : internalError;
  const { headers, body } = refusedPage(shown, {
    requestId: id(c),
    isForm: c.req.method === "POST",
  });
  const all = new Headers(answer.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Response(body, { status: answer.status, headers: all });
}

function whose(c: AppContext): { tenant?: string } {
  const tenant = c.get("tenant")?.id ?? c.get("tenantId");
  return tenant === undefined ? {} : { tenant };
}

class MethodRefused extends Error {
  readonly allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    super("method not allowed");
    this.allowed = allowed;
  }
}

function methodNotAllowed(c: AppContext, allowed: readonly string[]): Response {
  c.set("refusedAs", "method_not_allowed");
  const error = new ServiceError("method_not_allowed", `This route takes ${allowed.join(", ")}.`);
  const answer = errorAnswer(error, id(c));
  answer.headers.set("allow", allowed.join(", "));
  return answer;
}

function withId(c: AppContext, answer: Response): Response {
  answer.headers.set("x-request-id", id(c));
  return answer;
}

function id(c: AppContext): string {
  return c.get("requestId");
}

function refuseBadPath(c: AppContext): void {
  try {
    decodeURIComponent(new URL(c.req.url).pathname);
  } catch {
    throw new ServiceError("invalid_request", "The path is not well percent-encoded.");
  }
}

/** HEAD runs the GET of a route, so it is refused where that consumes or waits (contract §2). */
function refuseHead(c: AppContext, table: MethodTable): void {
  if (c.req.raw.method !== "HEAD") return;
  const allowed = table.allowed(c.req.path);
  if (allowed.length > 0 && !allowed.includes("HEAD")) throw new MethodRefused(allowed);
}

type MethodTable = ReturnType<typeof methodTable>;

function methodTable(
  routes: readonly { method: string; path: string; noHead?: boolean | undefined }[],
) {
  const rows = routes.map(({ method, path, noHead }) => ({
    methods: method === "GET" && !noHead ? ["GET", "HEAD"] : [method],
    form: pathForm(path),
  }));
  return {
    /** The methods that `path` takes; none for an unknown path. */
    allowed(path: string): string[] {
      const sent = path.split("/");
      const found = rows.filter(({ form }) => form.read(sent) !== null);
      return [...new Set(found.flatMap((row) => row.methods))].sort();
    },
  };
}

/** `/v1/projects/{id}` as Hono writes it. */
function honoPath(path: string): string {
  return path.replace(/\{([^}]+)\}/g, ":$1");
}
