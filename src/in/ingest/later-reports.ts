import { type LaterReport, writeReport } from "../../core/alerts/fold.ts";
import type { Tx } from "../../ground/store/store.ts";

/**
 * The latest report of each alert whose row has an earlier one. Changes by the open batch are final with its
 * commit: until `settle` they can be undone. `limit`: most reports. A dropped report is lost: the earlier one in
 * the table is at most a minute older.
 */
export function createLaterReports(limit: number) {
  const reports = new Map<string, LaterReport>();
  /** The value before the open batch changed it; null: none. */
  const found = new Map<string, LaterReport | null>();

  const drop = (key: string) => {
    const report = reports.get(key) ?? null;
    if (!found.has(key)) found.set(key, report);
    reports.delete(key);
  };

  return {
    get: (key: string) => reports.get(key) ?? null,
    keep(key: string, report: LaterReport) {
      drop(key);
      const [oldest] = reports.keys();
      if (reports.size >= limit && oldest !== undefined) drop(oldest);
      reports.set(key, report);
    },
    drop,
    settle: () => found.clear(),
    /** The batch is undone: everything is as before it. */
    undo() {
      for (const [key, report] of found) {
        if (report === null) reports.delete(key);
        else reports.set(key, report);
      }
      found.clear();
    },
    /** The clock jumped by so many seconds, and with it all future times in the table. */
    shift(by: number) {
      for (const report of reports.values()) {
        report.at += by;
        if (report.expiresAt !== null) report.expiresAt += by;
      }
    },
    write(tx: Tx) {
      for (const report of reports.values()) writeReport(tx, report);
    },
    get size() {
      return reports.size;
    },
  };
}
