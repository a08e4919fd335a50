import type { Reader } from "../../ground/store/store.ts";
import { type Alert, type AlertRow, factsOf } from "./alert.ts";
import { apartOf } from "./apart.ts";

/** Alerts as the interface shows them (contract §13). */
export function toAlerts(reader: Reader, rows: readonly AlertRow[]): Alert[] {
  const apart = apartOf(reader, rows);
  return rows.map((row) => ({ ...factsOf(row), apart: apart.get(row.id) ?? [] }));
}

/** As `toAlerts`, of one. */
export function toAlert(reader: Reader, row: AlertRow): Alert {
  return toAlerts(reader, [row])[0] as Alert;
}
