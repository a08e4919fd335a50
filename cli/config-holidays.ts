import type { HolidaysAnswer } from "../src/core/oncall/holidays.ts";
import type { ConfigDocument } from "../src/records/config-file/document.ts";
import type { HolidaysConfig } from "../src/records/config-file/tenant.ts";
import { callApi, path } from "./api.ts";
import type { TenantChange } from "./config-tenant-change.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";

/** The holidays of the tenant in a file: layers of its schedules refer to them by name. */

const holidaysNow = async (options: ApiOptions): Promise<HolidaysAnswer[]> =>
  (await callApi<{ holidays: HolidaysAnswer[] }>(options, "GET", "/v1/holidays")).holidays;

/** As a file has them. */
export const holidaysOfFile = async (options: ApiOptions): Promise<HolidaysConfig[]> =>
  (await holidaysNow(options)).map(({ name, dates }) => ({ name, dates }));

/** The changes that a file's holidays make: those that are made or replaced come before the projects, those that go after them. */
export async function planHolidays(
  options: ApiOptions,
  document: ConfigDocument,
  wanted: readonly HolidaysConfig[],
): Promise<TenantChange[]> {
  const { lineDiff } = await import("../src/records/config-file/diff.ts");
  const { sortedDates } = await import("../src/core/oncall/holidays.ts");
  const there = new Map((await holidaysNow(options)).map((one) => [one.name, one]));
  const changes: TenantChange[] = [];
  for (const { name, dates } of wanted) {
    const before = there.get(name);
    there.delete(name);
    const lines = lineDiff(textOf(before?.dates ?? []), textOf(sortedDates(dates)));
    if (before !== undefined && lines.length === 0) continue;
    const apply = () => callApi(options, "PUT", path("v1", "holidays", name), { dates });
    const change = before === undefined ? "create" : "update";
    changes.push({ kind: "holidays", name, change, lines, isFirst: true, apply });
  }
  for (const one of there.values()) {
    mustBeUnused(document, one);
    const apply = () => callApi(options, "DELETE", path("v1", "holidays", one.name));
    changes.push({ kind: "holidays", name: one.name, change: "delete", apply });
  }
  return changes;
}

const textOf = (dates: HolidaysConfig["dates"]): string =>
  dates.map(({ date, name }) => `${date} ${name}`.trimEnd()).join("\n");

/** What would be refused once all else has been applied is said before. */
function mustBeUnused({ projects }: ConfigDocument, { name, schedules }: HolidaysAnswer): void {
  const own = projects.flatMap((project) =>
    project.config.schedules
      .filter(({ layers }) => layers.some((one) => one.restriction?.holidays?.calendar === name))
      .map((one) => `${project.name}/${one.name}`),
  );
  const elsewhere = schedules.filter(
    (one) => !projects.some((of) => one.startsWith(`${of.name}/`)),
  );
  const [first] = [...own, ...elsewhere];
  if (first !== undefined)
    throw new CommandError(
      `holidays ${name}: the file has none of this name, and ${first} names it`,
    );
}
