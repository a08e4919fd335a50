/** One thing that must be well for the box to page (decisions §10). */
export interface HealthCheck {
  name: string;
  ok: boolean;
  /** A sentence for a person: what is wrong and what to do, or how it stands. */
  detail: string;
  /** Degraded still pages some of what it should; failed doesn't. */
  severity: "degraded" | "failed";
}

export interface Health {
  ready: boolean;
  status: "ok" | "degraded" | "failed";
  checks: HealthCheck[];
}

export function summarize(checks: HealthCheck[]): Health {
  const bad = checks.filter((check) => !check.ok);
  const status = bad.some((check) => check.severity === "failed")
    ? "failed"
    : bad.length > 0
      ? "degraded"
      : "ok";
  return { ready: status !== "failed", status, checks };
}
