import type { Command } from "commander";
import type { Alert } from "../src/alerts/alert.ts";
import type { LogLine } from "../src/ingest/logtail.ts";
import { levelName } from "../src/kit/level.ts";
import { callApi, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, print } from "./options.ts";
import { printable, table, when } from "./table.ts";

export function registerAlerts(program: Command): void {
  apiFlags(program.command("alerts"))
    .description("list alerts, newest first; --follow goes on as they open")
    .option("--project <name>", "of one project")
    .option("--state <state>", "open, acknowledged or resolved")
    .option("--rule <name>", "of one rule")
    .option("--limit <n>", "how many", "50")
    .option("--follow", "print alerts as they open")
    .action(listAlerts);
  apiFlags(program.command("ack <id...>"))
    .description("acknowledge alerts")
    .action(changeAlerts("ack"));
  apiFlags(program.command("resolve <id...>"))
    .description("resolve alerts")
    .action(changeAlerts("resolve"));
  apiFlags(program.command("timeline <id>"))
    .description("what happened to an alert")
    .action(showTimeline);
  apiFlags(program.command("tail <project>"))
    .description("the newest retained log lines, newest last")
    .option("--limit <n>", "how many", "50")
    .option("--template <id>", "of one template")
    .action(tail);
}

interface ListOptions extends ApiOptions {
  project?: string;
  state?: string;
  rule?: string;
  limit: string;
  follow?: boolean;
}

async function listAlerts(options: ListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: options.limit });
  for (const name of ["project", "state", "rule"] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  const answer = await callApi<{ alerts: Alert[] }>(options, "GET", `/v1/alerts?${query}`);
  print(answer, options, () =>
    answer.alerts.length === 0 ? "no alerts" : alertTable(answer.alerts),
  );
  if (options.follow)
    await follow(options, Math.max(0, ...answer.alerts.map((alert) => Number(alert.id))));
}

async function follow(options: ListOptions, from: number): Promise<never> {
  let cursor = from;
  for (;;) {
    const answer = await callApi<{ alerts: Alert[]; cursor: number }>(
      options,
      "GET",
      `/v1/pull?cursor=${cursor}&wait=60`,
    );
    cursor = answer.cursor;
    for (const alert of answer.alerts) {
      print(
        alert,
        options,
        () =>
          `${when(alert.first_seen)}  #${alert.id}  ${alert.project}/${alert.rule}  ${printable(alert.template)}`,
      );
    }
  }
}

function alertTable(alerts: Alert[]): string {
  return table(
    ["ID", "STATE", "LEVEL", "COUNT", "LAST SEEN", "PROJECT", "RULE", "TEMPLATE"],
    alerts.map((a) => [
      a.id,
      a.state,
      levelName(a.level),
      a.count,
      when(a.last_seen),
      a.project,
      a.rule,
      a.template.slice(0, 80),
    ]),
  );
}

function changeAlerts(verb: "ack" | "resolve") {
  return async (ids: string[], options: ApiOptions): Promise<void> => {
    const alerts: Alert[] = [];
    for (const id of ids)
      alerts.push(await callApi<Alert>(options, "POST", path("v1", "alerts", id, verb)));
    print({ alerts }, options, () => alertTable(alerts));
  };
}

async function showTimeline(id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{
    timeline: { at: number; kind: string; account_id: string | null; detail: object }[];
  }>(options, "GET", path("v1", "alerts", id, "timeline"));
  print(answer, options, () =>
    table(
      ["WHEN", "WHAT", "WHO", "DETAIL"],
      answer.timeline.map((e) => [
        when(e.at),
        e.kind,
        e.account_id ?? "",
        JSON.stringify(e.detail),
      ]),
    ),
  );
}

async function tail(
  project: string,
  options: ApiOptions & { limit: string; template?: string },
): Promise<void> {
  if (!/^\d+$/.test(options.limit))
    throw new CommandError("--limit must be an integer", exitCodes.usage);
  const query = new URLSearchParams({
    limit: options.limit,
    ...(options.template ? { template: options.template } : {}),
  });
  const answer = await callApi<{ messages: LogLine[] }>(
    options,
    "GET",
    `${path("v1", "projects", project, "logtail")}?${query}`,
  );
  print(answer, options, () =>
    answer.messages
      .map(
        (m) =>
          `${when(m.received_at)} ${levelName(m.level).padEnd(8)} ${printable(m.source)}  ${printable(m.message)}`,
      )
      .join("\n"),
  );
}
