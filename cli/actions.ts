import type { Command } from "commander";
import type { Action } from "../src/core/projects/action.ts";
import type { Execution } from "../src/out/outbox/rows.ts";
import { api, path, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { readNamed } from "./files.ts";
import { namedInProject, nounCommands } from "./noun.ts";
import { apiFlags, print } from "./options.ts";
import { type Columns, tableOf, when } from "./table.ts";

export function registerActions(program: Command): void {
  const group = program
    .command("action")
    .description("runbook actions: requests that the box makes when an alert opens");
  const action = nounCommands(group, namedInProject("action"));
  action.list<Action>("list actions", {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    METHOD: ({ method }) => method,
    URL: ({ url }) => url,
    STATE: ({ enabled }) => (enabled ? "on" : "OFF"),
    EVENTS: ({ event_filter }) => event_filter,
  });
  apiFlags(group.command("set <project> <file>"))
    .description(
      "create or replace an action, by its name, from a JSON file (- = standard input); every rule without `actions` runs it",
    )
    .action(set);
  action.verb("test", "run an action once, as an alert would", test);
  action
    .verb("executions", "an action's runs, newest first", executions)
    .option("--limit <n>", "how many (1 to 500)", "100");
  action.delete("delete an action; its past runs stay");
}

async function set(project: string, file: string, options: ApiOptions): Promise<void> {
  const base = v1("projects", project, "actions");
  const body = await readNamed(file, "an action");
  const { actions } = await api.get<{ actions: Action[] }>(options, base);
  const present = actions.find(({ name }) => name === body.name);
  if (present === undefined) {
    const answer = await api.post<{ id: string }>(options, base, body);
    print(answer, options, () => answer.id);
    return;
  }
  await api.put<object>(options, base + path(present.id), body);
  print({ id: present.id, updated: true }, options, () => present.id);
}

async function test(place: string, options: ApiOptions): Promise<void> {
  const answer = await api.post<{ ok: boolean; status_code: number; error?: string }>(
    options,
    `${place}/test`,
  );
  print(answer, options, () => (answer.ok ? `it answered ${answer.status_code}` : ""));
  if (!answer.ok) throw new CommandError(`it failed: ${answer.error ?? answer.status_code}`);
}

async function executions(place: string, options: ApiOptions & { limit: string }): Promise<void> {
  const answer = await api.get<{ executions: Execution[] }>(
    options,
    `${place}/executions?limit=${encodeURIComponent(options.limit)}`,
  );
  const columns: Columns<Execution> = {
    ID: ({ id }) => id,
    ALERT: ({ alert_id }) => alert_id,
    EVENT: ({ event }) => event,
    STATUS: ({ status }) => status,
    ATTEMPTS: ({ attempts }) => attempts,
    ANSWER: ({ status_code }) => status_code ?? "",
    MS: ({ duration_ms }) => duration_ms ?? "",
    CREATED: ({ created_at }) => when(created_at),
    ERROR: ({ error }) => error,
  };
  print(answer, options, () => tableOf(columns, answer.executions));
}
