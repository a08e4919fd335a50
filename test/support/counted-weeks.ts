import type { Clock } from "../../src/ground/kit/clock.ts";
import type { Tenant } from "../../src/tenant/tenant.ts";

const DAY = 86_400;

/**
 * Writes five weeks of counts of a project's template, as if they had been counted: `hoursOf` says how often it came in each
 * hour, by the number of the day before today. The box reads them after a restart.
 */
export function plantWeeks(
  box: { clock: Pick<Clock, "now">; tenant: Pick<Tenant, "store"> },
  {
    project,
    template,
    hoursOf,
    gap = 3600,
    back: until = 1,
  }: {
    project: string;
    template: string;
    hoursOf(back: number): number[];
    gap?: number;
    back?: number;
  },
): void {
  const today = Math.floor(box.clock.now() / 1000 / DAY);
  box.tenant.store.write((tx) => {
    const of = "(SELECT id FROM projects WHERE name = ?)";
    const series = tx
      .sql<[string], number>(
        `SELECT id FROM count_series WHERE selection = '' AND project_id = ${of}`,
      )
      .pluck()
      .get(project);
    tx.sql<[number, number]>("UPDATE count_series SET since = ? WHERE id = ?").run(
      (today - 40) * DAY,
      series as number,
    );
    if (until === 0)
      tx.sql<[number, string]>("DELETE FROM hour_counts WHERE series_id = ? AND key = ?").run(
        series as number,
        template,
      );
    for (let back = 36; back >= until; back--) {
      const hours = hoursOf(back);
      const n = hours.reduce((sum, one) => sum + one, 0);
      if (n === 0) continue;
      const last = (today - back) * DAY + (hours.findLastIndex((one) => one > 0) + 1) * 3600 - 1;
      tx.sql<[number, number, string, number, string, number, number]>(
        "INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ).run(series as number, today - back, template, n, JSON.stringify(hours), last, gap);
    }
  });
}
