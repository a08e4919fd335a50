import { unixSeconds } from "../../ground/kit/clock.ts";
import { getMeta } from "../../ground/store/meta.ts";
import type { BackupPlan, ScheduledBackups } from "../../records/backup/scheduled.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** The age of the last proved backup (contract §11), and whether scheduled backups work. */
export function backupCheck(
  tenant: Tenant,
  scheduled: { plan: BackupPlan; backups: ScheduledBackups } | null,
): HealthCheck {
  const base = { name: "backup", severity: "degraded" as const };
  const age = backupAge(tenant);
  const last = age === null ? "none was ever proved" : `the last one was proved ${age} s ago`;
  if (scheduled === null) return { ...base, ok: true, detail: `${last}; none is scheduled` };
  // The error names paths, which are secret here. The log has it.
  if (scheduled.backups.failure() !== null)
    return { ...base, ok: false, detail: `the scheduled backup fails: look at the log; ${last}` };
  const isLate = age !== null && age > 2 * scheduled.plan.hours * 3600;
  return { ...base, ok: !isLate, detail: last };
}

/** Seconds since the last proved backup; null where there is none. */
export function backupAge({ store, clock }: Tenant): number | null {
  const at = getMeta(store, "last_backup");
  return at === undefined ? null : Math.max(0, unixSeconds(clock) - Number(at));
}
