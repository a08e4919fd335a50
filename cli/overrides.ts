import type { Command } from "commander";
import type { StoredOverride } from "../src/core/oncall/schedule.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { api } from "./api.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { schedulePath } from "./schedules.ts";
import { when } from "./table.ts";
import { spanEnd, timeHelp } from "./times.ts";

const spanFlags = {
  "--from <time>": `when it begins (default now): ${timeHelp}`,
  "--until <time>": "when it ends",
  "--for <length>": "or how long it lasts: 8h, 1d12h",
};

export function registerOverrides(program: Command): void {
  const group = program
    .command("override")
    .description("overrides: one person on call for a while, whoever's turn it is");
  const override = nounCommands(group, {
    of: "<project> <schedule>",
    one: "<id>",
    at: ([project = "", schedule = ""]) => schedulePath(project, schedule, "overrides"),
  });
  override.list<StoredOverride>("list a schedule's overrides, past and future", async (options) => {
    const nameOf = await namesOf(options);
    return {
      ID: ({ id }) => id,
      "ON CALL": ({ account_id }) => nameOf(account_id),
      FROM: ({ starts_at }) => when(starts_at),
      UNTIL: ({ ends_at }) => when(ends_at),
      "MADE BY": ({ created_by }) => nameOf(created_by),
    };
  });
  apiFlags(group.command("add <project> <schedule> <person>"), spanFlags)
    .description("put a person (an email, or me) on call for a while")
    .action(add);
  override.delete("delete an override");
}

async function add(
  project: string,
  schedule: string,
  person: string,
  options: GivenBy<typeof spanFlags>,
): Promise<void> {
  // Without --from it begins when the box receives it, so the clock here doesn't matter.
  const { from } = options;
  const ends_at = spanEnd(options, from ?? unixSeconds(systemClock));
  const account = (await accountIds(options))(person);
  const body = { account_id: account, ends_at, ...(from !== undefined && { starts_at: from }) };
  const to = schedulePath(project, schedule, "overrides");
  const { id } = await api.post<{ id: string }>(options, to, body);
  print({ id, ...body }, options, () =>
    [
      id,
      `${person} is on call from ${from === undefined ? "now" : when(from)} until ${when(ends_at)}`,
    ].join("\n"),
  );
}
