import { asc, eq } from "drizzle-orm";
import { ServiceError } from "../kit/errors.ts";
import { devices } from "../store/schema.ts";
import type { Store, Tx } from "../store/store.ts";
import { rankOf } from "./accounts.ts";
import type { Device } from "./device.ts";

/** Devices an account may have (api §8). */
const MOST_DEVICES = 20;

/** A complete fresh report of one handset. */
export interface DeviceReport {
  accountId: string;
  token: string;
  platform: string;
  criticalAlerts: boolean;
}

/** Where accounts' devices are kept: beside the accounts, wherever a role has those. */
export interface DeviceBook {
  /** By age. */
  list(accountId: string): Promise<Device[]>;
  /** Registers a handset, or overwrites what is kept of it. */
  put(report: DeviceReport): Promise<"registered" | "too_many">;
  /** False when the account has no such device. */
  remove(accountId: string, token: string): Promise<boolean>;
}

/** The devices of a tenant's own accounts. */
export function devicesIn(store: Store): DeviceBook {
  return {
    async list(accountId) {
      const rows = store.orm
        .select()
        .from(devices)
        .where(eq(devices.accountId, accountId))
        .orderBy(asc(devices.createdAt), asc(devices.token))
        .all();
      return rows.map(({ accountId: _, ...device }) => device);
    },
    put: async (report) => store.write((tx) => put(tx, report)),
    remove: async (accountId, token) =>
      store.write((tx) => {
        const gone = tx
          .sql("DELETE FROM devices WHERE account_id = ? AND token = ?")
          .run(accountId, token.toLowerCase());
        return gone.changes > 0;
      }),
  };
}

function put(tx: Tx, report: DeviceReport): "registered" | "too_many" {
  const { accountId, platform, criticalAlerts } = report;
  const token = report.token.toLowerCase();
  rankOf(tx, accountId);
  const others = tx
    .sql("SELECT count(*) FROM devices WHERE account_id = ? AND token <> ?")
    .pluck()
    .get(accountId, token) as number;
  if (others >= MOST_DEVICES) return "too_many";
  tx.sql(
    `INSERT INTO devices (account_id, token, platform, critical_alerts, created_at, last_seen_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET platform = excluded.platform,
       critical_alerts = excluded.critical_alerts, last_seen_at = excluded.last_seen_at`,
  ).run(accountId, token, platform, criticalAlerts ? 1 : 0, tx.at, tx.at);
  return "registered";
}

/** Registers in `book` what a caller reported. Throws 422 for a token that is none and for the 21st device. */
export async function registerDevice(book: DeviceBook, report: DeviceReport): Promise<void> {
  if (!/^[0-9a-f]{64}$/i.test(report.token)) {
    const message = "A device token is exactly 64 hex characters.";
    const details = [{ field: "/token", reason: message }];
    throw new ServiceError("invalid_device_token", message, { details });
  }
  if ((await book.put(report)) === "registered") return;
  throw new ServiceError(
    "too_many_devices",
    `An account has at most ${MOST_DEVICES} devices: remove one first.`,
  );
}
