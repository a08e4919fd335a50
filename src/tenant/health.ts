/** One thing that must be well for the box to page (contract §10). */
export interface HealthCheck {
  name: string;
  ok: boolean;
  /** A sentence for a person: what is wrong and what to do, or how it stands. */
  detail: string;
  /** The same with names of projects and people, for whoever shows an API key. */
  named?: string;
  /** Degraded still pages some of what it should; failed doesn't. */
  severity: "degraded" | "failed";
}

export interface Health {
  ready: boolean;
  status: "ok" | "degraded" | "failed";
  checks: HealthCheck[];
}

const ASK = ": box doctor says which, and so does this address with an API key";
const asks = ({ ok }: HealthCheck, named: string | undefined) => !ok && named !== undefined;

/** As it is told: with names in place of counts, or without them. */
export function told(health: Health, withNames: boolean): Health {
  const checks = health.checks.map(({ named, ...check }) => ({
    ...check,
    detail: withNames ? (named ?? check.detail) : check.detail + (asks(check, named) ? ASK : ""),
  }));
  return { ...health, checks };
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
