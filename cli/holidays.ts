import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { HolidaysAnswer } from "../src/core/oncall/holidays.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, print } from "./options.ts";
import { printable, tableOf, when } from "./table.ts";

export function registerHolidays(program: Command): void {
  const group = program
    .command("holidays")
    .description("days on which a layer of a schedule is off, or on which alone it is active");
  const holidays = nounCommands(group, { of: "", one: "<name>", at: () => "/v1/holidays" });
  holidays.list<HolidaysAnswer>(
    "list calendars",
    {
      NAME: ({ name }) => name,
      DAYS: ({ dates }) => dates.length,
      SCHEDULES: ({ schedules }) => schedules.join(", "),
      UPDATED: ({ updated_at }) => when(updated_at),
    },
    { none: "no holidays" },
  );
  holidays.verb("show", "print the days of a calendar", async (at, options) => {
    const answer = await api.get<HolidaysAnswer>(options, at);
    const columns = {
      DATE: ({ date }: HolidaysAnswer["dates"][number]) => date,
      NAME: ({ name }: HolidaysAnswer["dates"][number]) => printable(name),
    };
    print(answer, options, () => tableOf(columns, answer.dates));
  });
  apiFlags(group.command("set <name> <file>"))
    .description(
      "make or replace a calendar from a file (- = standard input): an iCalendar file, or a date and its name on each line",
    )
    .action(set);
  holidays.delete("delete a calendar that no layer names");
}

async function set(name: string, file: string, options: ApiOptions): Promise<void> {
  const text = readFileSync(file === "-" ? 0 : file, "utf8");
  const isCalendar = text.replace(/^\uFEFF/, "").startsWith("BEGIN:VCALENDAR");
  const body = isCalendar ? { ical: text } : { dates: linesOf(text) };
  const at = v1("holidays", name);
  const answer = await api.put<HolidaysAnswer>(options, at, body);
  print(answer, options, () => `${printable(answer.name)} has ${answer.dates.length} days`);
}

/** `2026-12-25 Christmas`, a line each; empty lines and such with # are passed over. */
function linesOf(text: string): { date: string; name: string }[] {
  return text
    .split(/\r?\n/)
    .map((line, i) => ({ line: line.trim(), n: i + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, n }) => {
      const [, date, name = ""] = /^(\d{4}-\d\d-\d\d)(?:[\s,;]+(.*))?$/.exec(line) ?? [];
      if (date === undefined)
        throw new CommandError(`line ${n} has no date, as 2026-12-25`, exitCodes.usage);
      return { date, name };
    });
}
