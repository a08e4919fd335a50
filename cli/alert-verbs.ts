import type { Command } from "commander";
import type { Alert } from "../src/core/alerts/alert.ts";
import type { ReachEntry } from "../src/core/alerts/reach-report.ts";
import type { ListedAction } from "../src/core/projects/action.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";

const assignFlags = {
  "--schedule <name...>": "whoever is on call in these schedules of the project",
  "--keep-ladder": "the ladder continues, too (the default)",
  "--no-keep-ladder": "the ladder's further rungs don't run",
};

export function registerAlertVerbs(program: Command): void {
  apiFlags(program.command("unack <id>"))
    .description(
      "undo an acknowledgement; the ladder (escalation policy) continues after the delay that was left",
    )
    .action(say("unack", "is open again"));
  apiFlags(program.command("escalate <id>"))
    .description("run the ladder's next rung now")
    .action(say("escalate", "is escalated"));
  apiFlags(program.command("assign <id> [account...]"), assignFlags)
    .description("page these people now (id or email; me), and assign the alert to them")
    .action(assign);
  apiFlags(program.command("note <id> <text>"))
    .description("add a note to an alert's timeline")
    .action(note);
  apiFlags(program.command("run-action <id> <action>"))
    .description(
      "run a runbook action (its id or name) for an alert, with the alert's latest event",
    )
    .action(runAction);
}

function say(verb: "unack" | "escalate", done: string) {
  return async (id: string, options: ApiOptions): Promise<void> =>
    tell(await api.post<Alert>(options, v1("alerts", id, verb)), options, done);
}

async function assign(
  id: string,
  people: string[],
  options: GivenBy<typeof assignFlags>,
): Promise<void> {
  const { schedule: schedules = [], keepLadder = true } = options;
  if (people.length + schedules.length === 0)
    throw new CommandError("name people, or give --schedule with a name", exitCodes.usage);
  const idOf = people.length === 0 ? String : await accountIds(options);
  const body = { accounts: people.map(idOf), schedules, keep_ladder: keepLadder };
  const alert = await api.post<Alert>(options, v1("alerts", id, "assign"), body);
  await tell(alert, options, "is assigned");
}

const IS_PAGED: ReadonlySet<ReachEntry["reason"]> = new Set([
  "shown",
  "delivered",
  "accepted_not_confirmed",
  "delayed",
]);

/** Prints what was done and whom it pages, with what the box knows of each person right after it. */
async function tell(alert: Alert, options: ApiOptions, done: string): Promise<void> {
  if (options.json) return print(alert, options, () => "");
  const { pages } = await api.get<{ pages: ReachEntry[] }>(
    options,
    v1("alerts", alert.id, "pages"),
  );
  const nameOf = await namesOf(options);
  const isReached = (account: string) =>
    pages.some(({ account_id, reason }) => account_id === account && IS_PAGED.has(reason));
  const names = (accounts: string[]) => accounts.map(nameOf).join(", ");
  const unreached = alert.page_accounts.filter((account) => !isReached(account));
  const paged = names(alert.page_accounts.filter(isReached)) || "nobody";
  const whom =
    alert.silenced_by !== null
      ? "nobody is paged while it is silenced"
      : `paged: ${paged}${unreached.length === 0 ? "" : `; nothing of theirs reaches ${names(unreached)}`}`;
  print(alert, options, () => `alert ${alert.id} ${done}; ${whom}`);
}

async function note(id: string, text: string, options: ApiOptions): Promise<void> {
  const made = await api.post<{ id: string }>(options, v1("alerts", id, "notes"), {
    text,
  });
  print(made, options, () => `noted (${made.id})`);
}

async function runAction(id: string, action: string, options: ApiOptions): Promise<void> {
  const { project } = await api.get<Alert>(options, v1("alerts", id));
  const { actions } = await api.get<{ actions: ListedAction[] }>(
    options,
    v1("projects", project, "actions"),
  );
  const found = actions.find((one) => one.id === action || one.name === action);
  const made = await api.post<{ execution_id: string }>(
    options,
    v1("alerts", id, "actions", found?.id ?? action, "run"),
  );
  print(made, options, () => `${found?.name ?? action} is run for alert ${id}`);
}
