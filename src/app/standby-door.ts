import { Hono } from "hono";
import { ServiceError } from "../ground/kit/errors.ts";
import { type HealthCheck, summarize } from "../tenant/health.ts";
import { clientAddress } from "../web/http/address.ts";
import { errorAnswer, errorBody, errorHeaders } from "../web/http/answer.ts";
import type { App } from "../web/http/app.ts";
import { noMetrics, operatingRoutes } from "../web/http/health-routes.ts";
import type { IngestHandler, IngestReply } from "../web/http/ingest.ts";
import { type BoxRole, roleRoute } from "../web/http/role.ts";
import type { BoxConfig } from "./config.ts";
import { exposition, gauge, roleMetric } from "./operate/metrics.ts";
import type { BoxDeps } from "./parts.ts";
import { connectionsOf, counterIds, type Listening, listen, peerOf } from "./web.ts";

/** What a machine that stands by knows. */
export interface StandbyState extends BoxRole {
  /** Why this machine couldn't take the box now; null where it could. */
  fault: string | null;
  /** For how many seconds nobody has served. */
  ownerless: number;
}

const AGAIN_SECONDS = 2;
const LATE_SECONDS = 60;
const NOBODY_SECONDS = 20;

/** A standby's own port: it says how things are, and that everything else is the owner's. */
export function openStandbyDoor(
  config: BoxConfig,
  deps: BoxDeps,
  now: () => StandbyState,
): Promise<Listening> {
  const { clock, log } = deps;
  const address = clientAddress(config.trustedProxies);
  const requestId = counterIds(deps.random);
  const refusal = () => {
    const { owner } = now();
    const whose = owner === null ? "nobody serves the box now" : `machine ${owner} serves the box`;
    return new ServiceError("not_ready", `This machine stands by, and ${whose}: try again there.`, {
      retryAfter: AGAIN_SECONDS,
    });
  };
  const refuse = (error: unknown): IngestReply => {
    const known = error instanceof ServiceError ? error : refusal();
    return {
      status: known.status,
      headers: { "content-type": "application/json", ...errorHeaders(known) },
      body: JSON.stringify(errorBody(known, requestId())),
    };
  };
  const ingest: IngestHandler = {
    admit() {
      throw refusal();
    },
    take: (_admitted, _body, done) => done(refuse(refusal())),
    refuse,
  };
  const routes = [
    roleRoute(() => {
      const { role, owner, epoch, behind } = now();
      return { role, owner, epoch, behind };
    }),
    ...operatingRoutes({
      health: () => summarize(checksOf(now())),
      metrics: () => metricsOf(now()),
      mayReadMetrics: (c) => {
        const isHere = ["127.0.0.1", "::1", "::ffff:127.0.0.1"];
        if (!config.metricsOpen && !isHere.includes(peerOf(c).remoteAddress ?? "")) noMetrics();
      },
      seesNames: () => false,
      openapi() {
        throw refusal();
      },
    }),
  ];
  const app = async () => {
    const made: App = new Hono();
    made.use(async (c, next) => {
      await next();
      c.header("X-Request-Id", requestId());
    });
    for (const { method, path, handle } of routes) made.on(method, path, handle);
    made.all("*", () => errorAnswer(refusal(), requestId()));
    made.onError((error) => {
      if (!(error instanceof ServiceError)) log.error({ err: error }, "request failed");
      return errorAnswer(error instanceof ServiceError ? error : refusal(), requestId());
    });
    return made;
  };
  const connections = connectionsOf(deps, address);
  const limits = deps.limits ? { limits: deps.limits } : {};
  return listen(config, { app, ingest, address, connections, clock, log, ...limits });
}

function checksOf({ fault, ownerless, owner, behind }: StandbyState): HealthCheck[] {
  return [
    {
      name: "owner",
      severity: "failed",
      ok: ownerless <= NOBODY_SECONDS,
      detail:
        owner === null
          ? `nobody has served the box for ${ownerless} s`
          : "another machine serves the box, and this one stands by",
    },
    {
      name: "database",
      severity: "degraded",
      ok: fault === null,
      detail:
        fault === null
          ? "this machine can take the box"
          : "this machine can't take the box: box doctor and the log say why",
    },
    {
      name: "copy",
      severity: "degraded",
      ok: behind <= LATE_SECONDS,
      detail: behind <= LATE_SECONDS ? "it is up to date" : `it is ${behind} s behind`,
    },
  ];
}

const metricsOf = ({ role, behind, fault }: StandbyState): string =>
  exposition([
    roleMetric(role),
    gauge("box_copy_behind_seconds", "Seconds by which a standby's copy is behind.", behind),
    gauge("box_can_take", "Whether a standby could take the box.", fault === null ? 1 : 0),
  ]);
