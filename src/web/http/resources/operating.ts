import * as z from "zod";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { getMeta } from "../../../ground/store/meta.ts";
import { backupsAnswer, doctorAnswer, type TenantHost } from "../../../tenant/host.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const box = routesIn(inTenant, { tag: "Operating", additive: true, boxOnly: true });

const started = z.object({ running: z.boolean() });

function hostOf({ host }: Tenant): TenantHost {
  if (host === null) throw new ServiceError("not_ready", "The box is starting.");
  return host;
}

/** What is wrong with the box, and its backups (contract §10). */
export const operatingTenantRoutes: Route[] = [
  box.get("/doctor", {
    name: "getDoctor",
    summary: "The latest findings of box doctor",
    answer: doctorAnswer,
    errors: ["not_ready"],
    handle: ({ tenant }) => {
      const { doctor } = hostOf(tenant);
      const { at, findings } = doctor.latest() ?? { at: null, findings: [] };
      return { at, findings, running: doctor.isRunning(), failure: doctor.failure() };
    },
  }),
  box.post("/doctor", {
    name: "runDoctor",
    summary: "Run box doctor again, in a process of its own; one at a time",
    manager: true,
    auditAlways: true,
    status: 202,
    answer: started,
    errors: ["not_ready"],
    handle: ({ tenant }) => {
      const { doctor } = hostOf(tenant);
      doctor.look();
      return { running: doctor.isRunning() };
    },
  }),
  box.get("/backups", {
    name: "listBackups",
    summary: "The backups in the box's backup directory, and how they are made",
    manager: true,
    answer: backupsAnswer,
    errors: ["not_ready"],
    handle: ({ tenant }) => {
      const { backups } = hostOf(tenant);
      const last = getMeta(tenant.store, "last_backup");
      const { hours, keep } = backups ?? { hours: 0, keep: 0 };
      return {
        scheduled: backups === null ? null : { hours, keep },
        last_backup: last === undefined ? null : Number(last),
        running: backups?.isRunning() ?? false,
        failure: backups?.failure() ?? null,
        backups: backups?.list() ?? [],
      };
    },
  }),
  box.post("/backups", {
    name: "makeBackup",
    summary: "Make a backup now, in a process of its own; one at a time",
    manager: true,
    auditAlways: true,
    status: 202,
    answer: started,
    errors: ["not_ready", "backup_dir_missing"],
    handle: ({ tenant }) => {
      const { backups } = hostOf(tenant);
      if (backups === null)
        throw new ServiceError(
          "backup_dir_missing",
          "The box was given no directory for backups: start it with --backup-dir.",
        );
      backups.make();
      return { running: backups.isRunning() };
    },
  }),
];
