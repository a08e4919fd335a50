import type { Clock } from "../../ground/kit/clock.ts";
import type { Keeper } from "../../ground/store/record/keeper.ts";
import type { FailedUpgrade } from "../../hosted/record/taking.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { BoxRole } from "../../web/http/role.ts";
import { counter, gauge, type Metric, roleMetric, upgradeMetric } from "./metrics.ts";

/** A box whose commits are in a database as well. */
export interface KeptBox {
  keeper: Keeper;
  role(): BoxRole;
  /** Lines of another machine that this program can't read. */
  handedAside(): number;
  /** Machines that stand by, and couldn't upgrade the box. */
  failedElsewhere(): readonly FailedUpgrade[];
}

/** So long a disk that has changed a page is looked at. */
const ROT_MS = 24 * 3_600_000;

/** Whether the database has every commit before anybody hears of it. */
export function databaseCheck(
  { keeper, handedAside, failedElsewhere }: Omit<KeptBox, "role">,
  clock: Clock,
): HealthCheck {
  const { aloneSince, isStopped, fault, putBack, putBackAt } = keeper.state();
  const base = { name: "database", severity: "degraded" as const };
  if (isStopped) {
    const detail = "it doesn't answer: so nothing is answered or sent (--database-away stop)";
    const named = `${detail}: ${fault ?? "no answer"}`;
    return { ...base, severity: "failed", ok: false, detail, named };
  }
  if (aloneSince === null && putBackAt !== null && clock.mono() - putBackAt < ROT_MS)
    return {
      ...base,
      ok: false,
      detail: `the disk changed ${putBack} of the store's pages by itself: the database's are there again. Look at the disk`,
    };
  if (aloneSince === null && handedAside() > 0)
    return {
      ...base,
      ok: false,
      detail: `${handedAside()} lines that another machine confirmed can't be read by this program: they are kept in the database until one of that machine's version serves`,
    };
  const [failed] = failedElsewhere();
  if (failed !== undefined) {
    const detail = `machine ${failed.node} stands by. Its last try to upgrade the box failed, so it may not be able to take over`;
    return { ...base, ok: false, detail, named: `${detail}. ${failed.why}` };
  }
  if (aloneSince === null)
    return { ...base, ok: true, detail: "it has every change that was answered or sent" };
  const seconds = Math.round((clock.mono() - aloneSince) / 1000);
  const rest = keeper.isInDoubt()
    ? "what comes rings from here, and is handed over if another machine takes the box"
    : "this disk alone has what is answered";
  const detail = `it doesn't answer for ${seconds} s: ${rest}`;
  return { ...base, ok: false, detail, named: `${detail} (${fault ?? "no answer"})` };
}

export function databaseMetrics(
  { keeper, role, failedElsewhere }: Omit<KeptBox, "handedAside">,
  clock: Clock,
): Metric[] {
  const { aloneSince, aloneMs, kept, waiting, putBack, compared } = keeper.state();
  const now = aloneSince === null ? 0 : clock.mono() - aloneSince;
  return [
    roleMetric(role().role),
    upgradeMetric(failedElsewhere().length > 0),
    gauge(
      "box_alone",
      "Whether this disk alone has what is answered, because the database is away.",
      [{ value: aloneSince === null ? 0 : 1 }],
    ),
    counter("box_alone_seconds_total", "Seconds in which that was so.", [
      { value: (aloneMs + now) / 1000 },
    ]),
    counter("box_ships_total", "Times that pages of commits went to the database.", [
      { value: kept },
    ]),
    gauge("box_ships_waiting", "Pages of commits that the database doesn't have yet.", [
      { value: waiting },
    ]),
    counter(
      "box_pages_put_back_total",
      "Pages that the disk had changed by itself, and that were put back from the database.",
      [{ value: putBack }],
    ),
    counter(
      "box_pages_compared_total",
      "Times that all pages were compared with the database, by why.",
      Object.entries(compared).map(([why, value]) => ({ labels: { why }, value })),
    ),
  ];
}
