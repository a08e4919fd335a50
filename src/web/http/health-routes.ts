import { version } from "../../ground/kit/assets.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { type Health, told } from "../../tenant/health.ts";
import { json } from "./answer.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";

export interface Operating {
  health(): Health;
  /** Prometheus text format 0.0.4. */
  metrics(): string;
  /** Whether this request may read the metrics (an API key, or --metrics-open). Throws ServiceError. */
  mayReadMetrics(c: AppContext): void | Promise<void>;
  /** Whether this request may read names of projects and people in the readiness (an API key). */
  seesNames(c: AppContext): boolean;
  openapi(): object;
}

/** Liveness, readiness, metrics and the interface's own description (contract §10). */
export function operatingRoutes(operating: Operating): RawRoute[] {
  // Making it costs tens of milliseconds, and anyone may ask.
  let document: object | null = null;
  const openapi = () => {
    document ??= operating.openapi();
    return document;
  };
  const routes: RawRoute[] = [
    { method: "GET", path: "/healthz", handle: () => json(200, { status: "ok" }) },
    {
      method: "GET",
      path: "/readyz",
      handle(c) {
        const health = told(operating.health(), operating.seesNames(c));
        return json(health.status === "failed" ? 503 : 200, health);
      },
    },
    {
      method: "GET",
      path: "/metrics",
      async handle(c) {
        await operating.mayReadMetrics(c);
        return new Response(operating.metrics(), {
          headers: {
            "content-type": "text/plain; version=0.0.4; charset=utf-8",
            "cache-control": "no-store",
          },
        });
      },
    },
    { method: "GET", path: "/v1/openapi.json", handle: () => json(200, openapi()) },
    { method: "GET", path: "/v1/version", handle: () => json(200, { name: "box", version }) },
  ];
  return routes.map((route) => ({ ...route, waitsForNothing: true }));
}

export function noMetrics(): never {
  throw new ServiceError("unauthorized", "Metrics need an API key (or --metrics-open).");
}
