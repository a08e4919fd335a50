import type { Command } from "commander";
import type { CalendarEntry, CurrentAnswer, GridAnswer } from "../src/core/oncall/schedule.ts";
import { accountIds } from "./accounts.ts";
import { api, queried, v1 } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import type { PersonOptions } from "./contacts.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { allProjects } from "./projects.ts";
import { table, tableOf, when } from "./table.ts";
import { timeHelp } from "./times.ts";

type Row = CurrentAnswer & { project: string; schedule: string };

export function registerOnCall(program: Command): void {
  const oncall = apiFlags(program.command("oncall [project]"))
    .description("show who is on call now in every schedule, of one project or of all")
    .action(showOnCall);
  registerCalendars(oncall);
  apiFlags(oncall.command("grid"), gridFlags)
    .description("show the shifts and gaps of all schedules, 7 days from now")
    .action(showGrid);
  apiFlags(oncall.command("ask <schedule>"), askFlags)
    .description("ask people to take a shift of yours in PROJECT/SCHEDULE; the first yes has it")
    .action(askFor);
}

const askFlags = {
  "--from <time>": { must: `when it begins: ${timeHelp}` },
  "--until <time>": { must: "when it ends" },
  "--of <email...>": { must: "who is asked" },
  "--return-from <time>": "for a swap: start of the shift that you take over from them in return",
  "--return-until <time>": "for a swap: end of that shift",
  "--note <text>": "why",
};

async function askFor(schedule: string, options: GivenBy<typeof askFlags>): Promise<void> {
  const of = options.of.map(await accountIds(options));
  const { from, until, note = "", returnFrom, returnUntil } = options;
  if ((returnFrom === undefined) !== (returnUntil === undefined))
    throw new CommandError("--return-from and --return-until go together", exitCodes.usage);
  const in_return = returnFrom && returnUntil && { from: returnFrom, until: returnUntil };
  const body = { schedule, from, until, of, note, ...(in_return && { in_return }) };
  const answer = await api.post<{ id: string }>(options, "/v1/oncall/asks", body);
  print(answer, options, () => `asked ${options.of.join(", ")}: the first who says yes has it`);
}

const gridFlags = {
  "--from <time>": `from when (default now): ${timeHelp}`,
  "--until <time>": "until when, at most 60 days later",
};

async function showGrid(options: GivenBy<typeof gridFlags>): Promise<void> {
  const { from, until: to } = options;
  const grid = await api.get<GridAnswer>(options, queried(v1("oncall", "grid"), { from, to }));
  const rows = grid.schedules.flatMap(({ project, schedule, shifts, gaps }) => {
    const none = gaps.map((gap) => ({ ...gap, email: "NOBODY", layer: "", away: undefined }));
    return [...shifts, ...none]
      .sort((a, b) => a.starts_at - b.starts_at)
      .map((one) => ({ ...one, project, schedule }));
  });
  print(grid, options, () =>
    tableOf(
      {
        PROJECT: ({ project }) => project,
        SCHEDULE: ({ schedule }) => schedule,
        FROM: ({ starts_at }) => when(starts_at),
        UNTIL: ({ ends_at }) => when(ends_at),
        "ON CALL": ({ email, away }) => (away ? `${email} (AWAY)` : email),
        BY: ({ layer }) => layer ?? "override",
      },
      rows,
    ),
  );
}

async function showOnCall(project: string | undefined, options: ApiOptions): Promise<void> {
  const names =
    project === undefined ? (await allProjects(options)).map(({ name }) => name) : [project];
  const oncall: Row[] = [];
  for (const name of names) oncall.push(...(await dutiesOf(options, name)));
  print({ oncall }, options, () =>
    table(["PROJECT", "SCHEDULE", "ON CALL", "REACHED", "UNTIL"], oncall.flatMap(cells)),
  );
}

async function dutiesOf(options: ApiOptions, project: string): Promise<Row[]> {
  const base = ["projects", project, "oncall", "schedules"];
  const { schedules } = await api.get<{ schedules: { name: string }[] }>(options, v1(...base));
  const rows: Row[] = [];
  for (const { name } of schedules) {
    const duty = await api.get<CurrentAnswer>(options, v1(...base, name, "current"));
    rows.push({ ...duty, project, schedule: name });
  }
  return rows;
}

/** A row for each who is on call. */
function cells(row: Row): string[][] {
  const { project, schedule } = row;
  if (row.on_call)
    return row.accounts.map(({ email, ends_at, reached }) => {
      const reach = reached === false ? "BY NOTHING" : reached ? "yes" : "";
      return [project, schedule, email, reach, ends_at ? when(ends_at) : ""];
    });
  const { off, next } = row;
  const later = next ? `${when(next.starts_at)}, then ${next.email}` : "";
  return [[project, schedule, off ? "nobody, outside of its hours" : "nobody", "", later]];
}

function registerCalendars(oncall: Command): void {
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
    at: (_, options: PersonOptions) => placeOf(options),
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

async function placeOf(options: PersonOptions): Promise<string> {
  const { person = "me" } = options;
  const account = person === "me" ? person : (await accountIds(options))(person);
  return v1("accounts", account, "calendars");
}

async function add(schedule: string | undefined, options: PersonOptions): Promise<void> {
  const body = schedule === undefined ? {} : { schedule };
  const made = await api.post<CalendarEntry & { calendar_url: string }>(
    options,
    await placeOf(options),
    body,
  );
  // A box that doesn't know its public address is read at the address that this terminal uses.
  const url = made.calendar_url.replace(/^\//, `${urlOf(options)}/`);
  print({ ...made, calendar_url: url }, options, () => url);
}
