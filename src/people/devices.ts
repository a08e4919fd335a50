import { and, asc, eq, ne } from "drizzle-orm";
import { ServiceError } from "../ground/kit/errors.ts";
import { rowsCounted } from "../ground/store/rows-counted.ts";
import { devices } from "../ground/store/schema.ts";
import type { Store, Tx } from "../ground/store/store.ts";
import { liveRole } from "./accounts.ts";
import type { Device } from "./device.ts";

/** Devices an account may have (contract §19). */
export const MOST_DEVICES = 20;

/** All that an app reports of its phone. */
interface DeviceReport {
  accountId: string;
  token: string;
  platform: string;
  criticalAlerts: boolean;
}

/** Stores the devices of accounts: in the tenant's store, or in the hosted registry. */
export interface DeviceBook {
  /** Oldest first. */
  list(accountId: string): Promise<Device[]>;
  /** Registers a phone, or replaces what is stored for it. */
  put(report: DeviceReport): Promise<"registered" | "too_many">;
  /** False when the account has no such device. */
  remove(accountId: string, token: string): Promise<boolean>;
  /** The same devices, written to this store. Absent where they aren't in the tenant's store. */
  through?(store: Store): DeviceBook;
}

/** The devices of a box's accounts. */
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
        const gone = tx.orm
          .delete(devices)
          .where(and(eq(devices.accountId, accountId), eq(devices.token, token.toLowerCase())))
          .run();
        return gone.changes > 0;
      }),
    through: devicesIn,
  };
}

function put(tx: Tx, report: DeviceReport): "registered" | "too_many" {
  const { accountId, platform, criticalAlerts } = report;
  const token = report.token.toLowerCase();
  liveRole(tx, accountId);
  const others = and(eq(devices.accountId, accountId), ne(devices.token, token));
  if (rowsCounted(tx, devices, others) >= MOST_DEVICES) return "too_many";
  const told = { platform, criticalAlerts, lastSeenAt: tx.at };
  tx.orm
    .insert(devices)
    .values({ accountId, token, ...told, createdAt: tx.at })
    .onConflictDoUpdate({ target: [devices.accountId, devices.token], set: told })
    .run();
  return "registered";
}

/** Registers a phone that a caller reported. Throws 422 for a malformed token and for the 21st device. */
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
