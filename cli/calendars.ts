import type { Command } from "commander";
import type { CalendarEntry } from "../src/core/oncall/schedule.ts";
import { accountIds } from "./accounts.ts";
import { callApi, path } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { apiFlags, print } from "./options.ts";
import { table, when } from "./table.ts";

interface Whose extends ApiOptions {
  person?: string;
}

export function registerCalendars(oncall: Command): void {
  const calendar = oncall
    .command("calendar")
    .description(
      "secret addresses for calendar programs: anybody who knows one can read that calendar",
    );
  const person = (command: Command) =>
    apiFlags(command).option("--person <email>", "for another person (default: you)");
  person(calendar.command("add [schedule]"))
    .description(
      "print a calendar address of your own shifts, or of PROJECT/SCHEDULE; an earlier address for the same stops working",
    )
    .action(add);
  person(calendar.command("list"))
    .description("list calendar addresses, without their secrets")
    .action(list);
  person(calendar.command("revoke <id>"))
    .description("revoke a calendar address")
    .action(async (id: string, options: Whose) => {
      const answer = await callApi<object>(options, "DELETE", await placeOf(options, id));
      print(answer, options, () => `revoked ${id}`);
    });
}

async function placeOf(options: Whose, ...rest: string[]): Promise<string> {
  const { person = "me" } = options;
  const account = person === "me" ? person : (await accountIds(options))(person);
  return path("v1", "accounts", account, "calendars", ...rest);
}

async function add(schedule: string | undefined, options: Whose): Promise<void> {
  const body = schedule === undefined ? {} : { schedule };
  const made = await callApi<CalendarEntry & { calendar_url: string }>(
    options,
    "POST",
    await placeOf(options),
    body,
  );
  // A box that doesn't know its public address is read at the address that this terminal uses.
  const url = made.calendar_url.replace(/^\//, `${urlOf(options)}/`);
  print({ ...made, calendar_url: url }, options, () => url);
}

async function list(options: Whose): Promise<void> {
  const answer = await callApi<{ calendars: CalendarEntry[] }>(
    options,
    "GET",
    await placeOf(options),
  );
  print(answer, options, () =>
    table(
      ["ID", "SHOWS", "MADE"],
      answer.calendars.map(({ id, schedule, created_at }) => [
        id,
        schedule ?? "own shifts",
        when(created_at),
      ]),
    ),
  );
}
