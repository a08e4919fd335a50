import type { Command } from "commander";
import type { Action } from "../src/core/projects/action.ts";
import type { Execution } from "../src/out/outbox/rows.ts";
import { callApi, namedId, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { readNamed } from "./files.ts";
import { apiFlags, print } from "./options.ts";
import { table, when } from "./table.ts";

export function registerActions(program: Command): void {
  const action = program
    .command("action")
    .description("runbook actions: requests that the box makes when an alert opens");
  apiFlags(action.command("list <project>")).description("list actions").action(list);
  apiFlags(action.command("set <project> <file>"))
    .description(
      "create or replace an action, by its name, from a JSON file (- = standard input); every rule without `actions` runs it",
    )
    .action(set);
  apiFlags(action.command("test <project> <action>"))
    .description("run an action once, as an alert would")
    .action(test);
  apiFlags(action.command("executions <project> <action>"))
    .description("an action's runs, newest first")
    .option("--limit <n>", "how many (1 to 500)", "100")
    .action(executions);
  apiFlags(action.command("delete <project> <action>"))
    .description("delete an action; its past runs stay")
    .action(async (project: string, named: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const answer = await callApi<object>(options, "DELETE", place);
      print(answer, options, () => `deleted ${named}`);
    });
}

function base(project: string, ...more: string[]): string {
  return path("v1", "projects", project, "actions", ...more);
}

/** The path of an action, by its name or id. */
async function placeOf(options: ApiOptions, project: string, named: string): Promise<string> {
  return base(project, await namedId(options, { kind: "action", project }, named));
}

async function list(project: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ actions: Action[] }>(options, "GET", base(project));
  const row = (each: Action) => [
    each.id,
    each.name,
    each.method,
    each.url,
    each.enabled ? "on" : "OFF",
    each.event_filter,
  ];
  print(answer, options, () =>
    table(["ID", "NAME", "METHOD", "URL", "STATE", "EVENTS"], answer.actions.map(row)),
  );
}

async function set(project: string, file: string, options: ApiOptions): Promise<void> {
  const body = await readNamed(file, "an action");
  const { actions } = await callApi<{ actions: Action[] }>(options, "GET", base(project));
  const present = actions.find(({ name }) => name === body.name);
  if (present === undefined) {
    const answer = await callApi<{ id: string }>(options, "POST", base(project), body);
    print(answer, options, () => answer.id);
    return;
  }
  await callApi<object>(options, "PUT", base(project, present.id), body);
  print({ id: present.id, updated: true }, options, () => present.id);
}

async function test(project: string, named: string, options: ApiOptions): Promise<void> {
  const place = await placeOf(options, project, named);
  const answer = await callApi<{ ok: boolean; status_code: number; error?: string }>(
    options,
    "POST",
    `${place}/test`,
  );
  print(answer, options, () => (answer.ok ? `it answered ${answer.status_code}` : ""));
  if (!answer.ok) throw new CommandError(`it failed: ${answer.error ?? answer.status_code}`);
}

async function executions(
  project: string,
  named: string,
  options: ApiOptions & { limit: string },
): Promise<void> {
  const place = await placeOf(options, project, named);
  const answer = await callApi<{ executions: Execution[] }>(
    options,
    "GET",
    `${place}/executions?limit=${encodeURIComponent(options.limit)}`,
  );
  const row = (each: Execution) => [
    each.id,
    each.alert_id,
    each.event,
    each.status,
    each.attempts,
    each.status_code ?? "",
    each.duration_ms ?? "",
    when(each.created_at),
    each.error,
  ];
  print(answer, options, () =>
    table(
      ["ID", "ALERT", "EVENT", "STATUS", "ATTEMPTS", "ANSWER", "MS", "CREATED", "ERROR"],
      answer.executions.map(row),
    ),
  );
}
