import type { Command } from "commander";
import type { StoredOverride } from "../src/core/oncall/schedule.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { callApi } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, print } from "./options.ts";
import { schedulePath } from "./schedules.ts";
import { table, when } from "./table.ts";
import { parseSpan, parseTime, timeHelp } from "./times.ts";

interface SpanOptions extends ApiOptions {
  from?: string;
  until?: string;
  for?: string;
}

export function registerOverrides(program: Command): void {
  const override = program
    .command("override")
    .description("overrides: one person on call for a while, whoever's turn it is");
  apiFlags(override.command("list <project> <schedule>"))
    .description("list a schedule's overrides, past and future")
    .action(list);
  apiFlags(override.command("add <project> <schedule> <person>"))
    .description("put a person (an email, or me) on call for a while")
    .option("--from <time>", `when it begins (default now): ${timeHelp}`)
    .option("--until <time>", "when it ends")
    .option("--for <length>", "or how long it lasts: 8h, 1d12h")
    .action(add);
  apiFlags(override.command("delete <project> <schedule> <id>"))
    .description("delete an override")
    .action(async (project: string, schedule: string, id: string, options: ApiOptions) => {
      const place = schedulePath(project, schedule, "overrides", id);
      const answer = await callApi<object>(options, "DELETE", place);
      print(answer, options, () => `deleted ${id}`);
    });
}

async function list(project: string, schedule: string, options: ApiOptions): Promise<void> {
  const from = schedulePath(project, schedule, "overrides");
  const answer = await callApi<{ overrides: StoredOverride[] }>(options, "GET", from);
  const nameOf = await namesOf(options);
  const row = (each: StoredOverride) => [
    each.id,
    nameOf(each.account_id),
    when(each.starts_at),
    when(each.ends_at),
    nameOf(each.created_by),
  ];
  print(answer, options, () =>
    table(["ID", "ON CALL", "FROM", "UNTIL", "MADE BY"], answer.overrides.map(row)),
  );
}

async function add(
  project: string,
  schedule: string,
  person: string,
  options: SpanOptions,
): Promise<void> {
  const span = spanOf(options);
  const account = (await accountIds(options))(person);
  const body = { account_id: account, ...span };
  const to = schedulePath(project, schedule, "overrides");
  const { id } = await callApi<{ id: string }>(options, "POST", to, body);
  const from = span.starts_at === undefined ? "now" : when(span.starts_at);
  print({ id, ...body }, options, () =>
    [id, `${person} has the duty from ${from} until ${when(span.ends_at)}`].join("\n"),
  );
}

/** Without --from it begins when the box receives it, so the clock here doesn't matter. */
function spanOf(options: SpanOptions): { starts_at?: number; ends_at: number } {
  if ((options.until === undefined) === (options.for === undefined))
    throw new CommandError("one of --until and --for is needed", exitCodes.usage);
  const from = options.from === undefined ? undefined : parseTime("--from", options.from);
  const ends_at =
    options.for === undefined
      ? parseTime("--until", options.until ?? "")
      : (from ?? unixSeconds(systemClock)) + parseSpan("--for", options.for);
  return { ...(from === undefined ? {} : { starts_at: from }), ends_at };
}
