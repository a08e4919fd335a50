/** One condition without which the box can't page (contract §10). */
export interface HealthCheck {
  name: string;
  ok: boolean;
  /** A sentence for people: the state, or what is wrong and what to do. */
  detail: string;
  /** The same with names of projects and people, for callers with an API key. */
  named?: string;
  /** `degraded`: some pages still work. `failed`: none does. */
  severity: "degraded" | "failed";
}

export interface Health {
  ready: boolean;
  status: "ok" | "degraded" | "failed";
  checks: HealthCheck[];
}

const ASK = ": box doctor says which, and so does this address with an API key";
const asks = ({ ok }: HealthCheck, named: string | undefined) => !ok && named !== undefined;

/** The health with names in place of counts, or without them. */
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
