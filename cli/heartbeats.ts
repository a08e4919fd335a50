import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import type { HeartbeatAnswer, HeartbeatRun } from "../src/in/heartbeats/heartbeat.ts";
import { callApi, namedId, path } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp, parseLevel } from "./level.ts";
import { apiFlags, print } from "./options.ts";
import { age, printable, short, table, when } from "./table.ts";
import { parseSpan } from "./times.ts";

export function registerHeartbeats(program: Command): void {
  const heartbeat = program
    .command("heartbeat")
    .description("heartbeats: jobs that must report (dead man's switch)");
  apiFlags(heartbeat.command("list <project>")).description("list heartbeats").action(list);
  paceFlags(apiFlags(heartbeat.command("add <project> <name>")))
    .description("create a heartbeat; prints, this once, the address that its job calls")
    .option("--slug <slug>", "its name in addresses that use a source's short token")
    .option("--uuid <uuid>", "the UUID that its job calls already")
    .action(add);
  paceFlags(apiFlags(heartbeat.command("set <project> <heartbeat>")))
    .description("change when a heartbeat is expected, or the level of its events")
    .action(set);
  apiFlags(heartbeat.command("show <project> <heartbeat>"))
    .description("show a job's state, its latest runs and its last report")
    .action(show);
  for (const [verb, says] of [
    ["pause", "pause a heartbeat; its alert ends"],
    ["resume", "resume a heartbeat, from now on"],
  ] as const)
    apiFlags(heartbeat.command(`${verb} <project> <heartbeat>`))
      .description(says)
      .action(async (project: string, named: string, options: ApiOptions) => {
        const place = await placeOf(options, project, named);
        const answer = await callApi<HeartbeatAnswer>(options, "POST", `${place}/${verb}`);
        print(answer, options, () => `${answer.name} is ${answer.state}`);
      });
  apiFlags(heartbeat.command("rotate <project> <heartbeat>"))
    .description("replace a heartbeat's addresses; the old ones stop working")
    .action(async (project: string, named: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const answer = await callApi<{ ping_url: string }>(options, "POST", `${place}/rotate`);
      print(answer, options, () => addressOf(answer, options));
    });
  apiFlags(heartbeat.command("delete <project> <heartbeat>"))
    .description("delete a heartbeat; its alert ends")
    .action(async (project: string, named: string, options: ApiOptions) => {
      const place = await placeOf(options, project, named);
      const answer = await callApi<object>(options, "DELETE", place);
      print(answer, options, () => `deleted ${named}`);
    });
}

interface PaceOptions extends ApiOptions {
  every?: string;
  cron?: string;
  oncalendar?: string;
  timezone?: string;
  grace?: string;
  maxRun?: string;
  level?: string;
  watch?: string;
  source?: string;
}

function paceFlags(command: Command): Command {
  return command
    .option("--every <span>", "the longest time between two reports: 1h, 1d")
    .option("--cron <fields>", 'the times at which it runs: "0 3 * * *"')
    .option("--oncalendar <times>", 'the times as a systemd timer writes them: "Mon..Fri 03:00"')
    .option("--timezone <zone>", "time zone of --cron, for example Europe/Vienna (default UTC)")
    .option("--grace <span>", "how late a report may be (default 5m)")
    .option("--max-run <span>", "how long a run may take (default: as --grace)")
    .option("--level <level>", `level of the events: ${levelHelp} (default error)`)
    .option(
      "--watch <kind:name=value>",
      "events that count as its report: alertmanager:alertname=Watchdog",
    )
    .option(
      "--source <name>",
      "the only source that may report for this job: Sentry check-ins, Opsgenie pings",
    );
}

function paceOf({
  every,
  cron,
  oncalendar,
  timezone,
  grace,
  maxRun,
  level,
  watch,
  source,
}: PaceOptions): object {
  return {
    ...(every === undefined ? {} : { period_seconds: parseSpan("--every", every) }),
    ...(cron === undefined ? {} : { cron }),
    ...(oncalendar === undefined ? {} : { oncalendar }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(grace === undefined ? {} : { grace_seconds: parseSpan("--grace", grace) }),
    ...(maxRun === undefined ? {} : { max_run_seconds: parseSpan("--max-run", maxRun) }),
    ...(level === undefined ? {} : { level: parseLevel(level) }),
    ...(watch === undefined && source === undefined
      ? {}
      : { watch: { ...(watch && watchOf(watch)), ...(source !== undefined && { source }) } }),
  };
}

function watchOf(text: string): object {
  const [, adapter = "", name = "", value = ""] = /^([a-z]+):([^=]+)=(.+)$/.exec(text) ?? [];
  if (adapter !== "") return { adapter, match: { [name]: value } };
  throw new CommandError(
    `--watch takes kind:name=value, alertmanager:alertname=Watchdog for example, not "${text}"`,
    exitCodes.usage,
  );
}

function base(project: string, ...more: string[]): string {
  return path("v1", "projects", project, "heartbeats", ...more);
}

/** The path of a heartbeat, by its name or id. */
async function placeOf(options: ApiOptions, project: string, named: string): Promise<string> {
  return base(project, await namedId(options, { kind: "heartbeat", project }, named));
}

async function list(project: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ heartbeats: HeartbeatAnswer[] }>(options, "GET", base(project));
  const now = unixSeconds(systemClock);
  print(answer, options, () =>
    table(
      ["NAME", "STATE", "EXPECTED", "LAST", "DUE", "RULE"],
      answer.heartbeats.map((one) => [
        one.name,
        one.state,
        expectation(one),
        one.last_at === null ? "never" : `${age(one.last_at, now)} ago`,
        one.due_at === null ? "" : when(one.due_at),
        one.rule ?? "NONE: nobody hears",
      ]),
    ),
  );
}

function expectation({ period_seconds, cron, timezone }: HeartbeatAnswer): string {
  return cron === undefined ? `every ${period_seconds} s` : `${cron} ${timezone}`;
}

async function add(
  project: string,
  name: string,
  options: PaceOptions & { slug?: string; uuid?: string },
): Promise<void> {
  const said = [options.every, options.cron, options.oncalendar].filter((one) => one !== undefined);
  if (said.length !== 1)
    throw new CommandError(
      "one of --every, --cron and --oncalendar says when it is expected",
      exitCodes.usage,
    );
  const { slug, uuid } = options;
  const body = {
    name,
    ...paceOf(options),
    ...(slug === undefined ? {} : { slug }),
    ...(uuid === undefined ? {} : { uuid }),
  };
  const answer = await callApi<HeartbeatAnswer & { ping_url: string; uuid: string }>(
    options,
    "POST",
    base(project),
    body,
  );
  print(answer, options, () => addressOf(answer, options));
}

/** A box that doesn't know its public address leaves it out of the answer. */
function addressOf({ ping_url }: { ping_url: string }, options: ApiOptions): string {
  return ping_url.startsWith("/") ? urlOf(options) + ping_url : ping_url;
}

async function set(project: string, named: string, options: PaceOptions): Promise<void> {
  const place = await placeOf(options, project, named);
  const answer = await callApi<HeartbeatAnswer>(options, "PATCH", place, paceOf(options));
  print(answer, options, () => `${answer.name}: ${expectation(answer)}, ${answer.state}`);
}

async function show(project: string, named: string, options: ApiOptions): Promise<void> {
  const place = await placeOf(options, project, named);
  const [heartbeat, { runs }] = await Promise.all([
    callApi<HeartbeatAnswer>(options, "GET", place),
    callApi<{ runs: HeartbeatRun[] }>(options, "GET", `${place}/runs?limit=10`),
  ]);
  print({ ...heartbeat, runs }, options, () => shownText(heartbeat, runs));
}

function shownText(one: HeartbeatAnswer, runs: readonly HeartbeatRun[]): string {
  const rows = [
    ["state", one.reason === null ? one.state : `${one.state} (${one.reason})`],
    ["expected", `${expectation(one)}, and ${one.grace_seconds} s of grace`],
    ["due", one.due_at === null ? "nothing" : when(one.due_at)],
    ["rule", one.rule ?? "none: nobody hears of it"],
  ];
  const heads = ["OUTCOME", "STARTED", "ENDED", "SECONDS", "EXIT"];
  const at = (time: number | null) => (time === null ? "" : when(time));
  const ran = runs.map((run) => [
    run.late_seconds > 0 ? `${run.outcome}, ${run.late_seconds} s late` : run.outcome,
    at(run.started_at),
    at(run.ended_at),
    run.duration ?? "",
    run.exit_status ?? "",
  ]);
  const said = one.last_message === null ? [] : [printable(short(one.last_message, 500))];
  return [table([], rows), table(heads, ran), ...said].join("\n\n");
}
