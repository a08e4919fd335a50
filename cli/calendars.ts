import type { Command } from "commander";
import type { CalendarEntry } from "../src/core/oncall/schedule.ts";
import { accountIds } from "./accounts.ts";
import { callApi, path } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, print } from "./options.ts";
import { when } from "./table.ts";

interface Whose extends ApiOptions {
  person?: string;
}

export function registerCalendars(oncall: Command): void {
  const group = oncall
    .command("calendar")
    .description(
      "secret addresses for calendar programs: anybody who knows one can read that calendar",
    );
  const person = (command: Command) =>
    command.option("--person <email>", "for another person (default: you)");
  const calendar = nounCommands(group, {
    of: "",
    one: "<id>",
    at: (_, options: Whose) => placeOf(options),
  });
  person(apiFlags(group.command("add [schedule]")))
    .description(
      "print a calendar address of your own shifts, or of PROJECT/SCHEDULE; an earlier address for the same stops working",
    )
    .action(add);
  const list = calendar.list<CalendarEntry>("list calendar addresses, without their secrets", {
    ID: ({ id }) => id,
    SHOWS: ({ schedule }) => schedule ?? "own shifts",
    MADE: ({ created_at }) => when(created_at),
  });
  person(list);
  person(calendar.delete("revoke a calendar address", "revoke", "revoked"));
}

async function placeOf(options: Whose): Promise<string> {
  const { person = "me" } = options;
  const account = person === "me" ? person : (await accountIds(options))(person);
  return path("v1", "accounts", account, "calendars");
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
