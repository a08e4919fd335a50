import type { Socket } from "node:net";
import { Hono } from "hono";
import { ServiceError } from "../ground/kit/errors.ts";
import { type HealthCheck, summarize } from "../tenant/health.ts";
import { clientAddress } from "../web/http/address.ts";
import { errorAnswer, errorBody, errorHeaders } from "../web/http/answer.ts";
import type { App } from "../web/http/app.ts";
import { noMetrics, operatingRoutes } from "../web/http/health-routes.ts";
import type { IngestHandler, IngestReply } from "../web/http/ingest.ts";
import { type BoxRole, roleRoute } from "../web/http/role.ts";
import { serverLimits } from "../web/http/server-limits.ts";
import type { BoxConfig } from "./config.ts";
import { counter, exposition, gauge, roleMetric, upgradeMetric } from "./operate/metrics.ts";
import type { BoxDeps } from "./parts.ts";
import type { Forwarder } from "./standby-forward.ts";
import { createStandbyLane } from "./standby-lane.ts";
import { connectionsOf, counterIds, type Listening, listen, peerOf } from "./web.ts";

/** What a machine that stands by knows. */
export interface StandbyState extends BoxRole {
  /** What keeps this machine from taking the box now: that it couldn't upgrade it, or what is nearer; null: nothing. */
  fault: "upgrade" | "other" | null;
  /** Flags that the machine that serves was given otherwise. */
  differing: readonly string[];
  /** For how many seconds nobody has served. */
  ownerless: number;
  /** What comes here and is sent on to whoever serves; null without a link. */
  link: (Forwarder["counts"] & { fault: string | null; held: number }) | null;
}

const AGAIN_SECONDS = 2;
const LATE_SECONDS = 60;
const NOBODY_SECONDS = 20;

/** What a machine that stands by answers itself, on its own port. */
const OWN_PATHS = new Set(["/v1/role", "/v1/version", "/healthz", "/readyz", "/metrics"]);

/**
 * A port of a standby for HTTP. Its own one says how things are; everything else is the owner's, and is sent on to it
 * where there is a way.
 */
export function openStandbyDoor(
  config: BoxConfig,
  deps: BoxDeps,
  now: () => StandbyState,
  { id, forwarder }: { id: string; forwarder: Forwarder | null },
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
      headers: {
        "content-type": "application/json",
        ...errorHeaders(known),
        ...(forwarder === null ? {} : { connection: "close" }),
      },
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
      const { role, owner, epoch, behind, upgrade_failed } = now();
      return { role, owner, epoch, behind, ...(upgrade_failed && { upgrade_failed }) };
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
      // The next request may be the owner's.
      if (forwarder !== null) c.header("Connection", "close");
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
  const isSecure = config.tls !== null;
  const send = (socket: Socket, late: () => void, to: Forwarder) =>
    to.send({ socket, port: id, isSecure, certificate: null, isAsking: true, late });
  const lane = forwarder && {
    lane: (handOver: (socket: Socket) => void) =>
      createStandbyLane(
        {
          clock,
          headMs: deps.limits?.head ?? serverLimits.head,
          isOwn: (path) => id === "http" && OWN_PATHS.has(path),
          send: (socket, late) => send(socket, late, forwarder),
        },
        handOver,
      ),
  };
  return listen(config, { app, ingest, address, connections, clock, log, ...limits, ...lane });
}

function checksOf(state: StandbyState): HealthCheck[] {
  const { fault, differing, ownerless, owner, behind, link } = state;
  const linked: HealthCheck[] = link
    ? [
        {
          name: "link",
          severity: "degraded",
          ok: link.fault === null,
          detail:
            link.fault === null
              ? "what comes here is sent on to the machine that serves"
              : "what comes here can't be sent on to the machine that serves: --cluster-listen there, and a way to it, are needed",
        },
      ]
    : [];
  return [
    ...linked,
    {
      name: "owner",
      severity: "failed",
      // Such a machine begins to count anew with each try.
      ok: ownerless <= NOBODY_SECONDS && (owner !== null || fault !== "upgrade"),
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
          : fault === "upgrade"
            ? "this machine took the box, and couldn't upgrade it: box doctor and the log say why"
            : "this machine can't take the box: its log says why",
    },
    {
      name: "flags",
      severity: "degraded",
      ok: differing.length === 0,
      detail:
        differing.length === 0
          ? "they are those of the machine that serves"
          : `the machine that serves has others: ${differing.join(", ")}`,
    },
    {
      name: "copy",
      severity: "degraded",
      ok: behind <= LATE_SECONDS,
      detail: behind <= LATE_SECONDS ? "it is up to date" : `it is ${behind} s behind`,
    },
  ];
}

const metricsOf = ({ role, behind, fault, link, upgrade_failed }: StandbyState): string =>
  exposition([
    ...(link === null
      ? []
      : [
          counter(
            "box_forwarded_connections_total",
            "Connections that were sent on to the machine that serves.",
            link.forwarded,
          ),
          counter(
            "box_late_connections_total",
            "Connections that were held for too long, or were too many.",
            link.refused,
          ),
          counter(
            "box_forwarded_datagrams_total",
            "Datagrams that were sent on, and taken by the machine that serves.",
            link.datagrams,
          ),
          counter(
            "box_dropped_datagrams_total",
            "Datagrams for which there was no room until a machine takes them.",
            link.dropped,
          ),
          gauge("box_held_connections", "Connections that wait until a machine serves.", link.held),
        ]),
    roleMetric(role),
    upgradeMetric(upgrade_failed === true),
    gauge("box_copy_behind_seconds", "Seconds by which a standby's copy is behind.", behind),
    gauge("box_can_take", "Whether a standby could take the box.", fault === null ? 1 : 0),
  ]);
