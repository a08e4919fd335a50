import { type Command, Option } from "commander";
import type { z } from "zod";
import { type FieldFlag, fieldFlags } from "../src/ground/kit/field-kind.ts";
import {
  type HeartbeatAnswer,
  type HeartbeatRun,
  heartbeatCreate,
  heartbeatPace,
} from "../src/in/heartbeats/heartbeat.ts";
import { api, v1 } from "./api.ts";
import { type ApiOptions, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp } from "./level.ts";
import { namedInProject, nounCommands } from "./noun.ts";
import { addFlags, apiFlags, type GivenBy, print, readOption } from "./options.ts";
import { agoOrNever, printable, short, table, when } from "./table.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

const flagsOf = (shape: Shape): [name: string, of: FieldFlag][] =>
  Object.entries(shape).flatMap(([name, schema]): [string, FieldFlag][] => {
    const of = fieldFlags.get(schema);
    return of === undefined ? [] : [[name, of]];
  });

/** Adds the flags of a noun's fields, in the order of its shape. */
function addFieldFlags(command: Command, shape: Shape): Command {
  for (const [, { flag, about }] of flagsOf(shape))
    command.addOption(readOption(flag, about.replace("LEVEL", levelHelp)));
  return command;
}

/** The fields whose flags were given, as the interface takes them. */
function fieldsGiven(shape: Shape, options: object): Record<string, unknown> {
  const given = new Map(Object.entries(options));
  return Object.fromEntries(
    flagsOf(shape).flatMap(([name, { flag }]) => {
      const value: unknown = given.get(new Option(flag).attributeName());
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const { slug, uuid } = heartbeatCreate.shape;
/** What is said of one when it is made, beside its pace. */
const named = { slug, uuid };

export function registerHeartbeats(program: Command): void {
  const group = program
    .command("heartbeat")
    .description("heartbeats: jobs that must report (dead man's switch)");
  const heartbeat = nounCommands(group, namedInProject("heartbeat"));
  heartbeat.list<HeartbeatAnswer>("list heartbeats", {
    NAME: ({ name }) => name,
    STATE: ({ state }) => state,
    EXPECTED: expectation,
    LAST: ({ last_at }) => agoOrNever(last_at),
    DUE: ({ due_at }) => (due_at === null ? "" : when(due_at)),
    RULE: ({ rule }) => rule ?? "NONE: notifies nobody",
  });
  addFieldFlags(paceFlags(apiFlags(group.command("add <project> <name>"))), named)
    .description("create a heartbeat; prints, this once, the address that its job calls")
    .action(add);
  paceFlags(
    heartbeat.verb("set", "change when a heartbeat is expected, or the level of its events", set),
  );
  heartbeat.verb("show", "show a job's state, its latest runs and its last report", show);
  const stateOf = ({ name, state }: HeartbeatAnswer) => `${name} is ${state}`;
  heartbeat.post("pause", "pause a heartbeat; its alert is resolved", stateOf);
  heartbeat.post("resume", "resume a heartbeat, from now on", stateOf);
  heartbeat.post("rotate", "replace a heartbeat's addresses; the old ones stop working", addressOf);
  heartbeat.delete("delete a heartbeat; its alert is resolved");
}

const watchFlags = {
  "--watch <kind:name=value>":
    "events that count as its report, as KIND:KEY=VALUE: alertmanager:alertname=Watchdog",
  "--source <name>":
    "the only source that may report for this job: Sentry check-ins, Opsgenie pings",
};
type PaceOptions = GivenBy<typeof watchFlags>;

const paceFlags = (command: Command): Command =>
  addFlags(addFieldFlags(command, heartbeatPace), watchFlags);

function paceOf(options: PaceOptions): object {
  const { watch, source } = options;
  return {
    ...fieldsGiven(heartbeatPace, options),
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

function expectation({ period_seconds, cron, timezone }: HeartbeatAnswer): string {
  return cron === undefined ? `every ${period_seconds} s` : `${cron} ${timezone}`;
}

async function add(project: string, name: string, options: PaceOptions): Promise<void> {
  const pace = paceOf(options);
  if (["period_seconds", "cron", "oncalendar"].filter((one) => one in pace).length !== 1)
    throw new CommandError(
      "give one of --every, --cron and --oncalendar: when the job reports",
      exitCodes.usage,
    );
  const body = { name, ...pace, ...fieldsGiven(named, options) };
  const answer = await api.post<HeartbeatAnswer & { ping_url: string; uuid: string }>(
    options,
    v1("projects", project, "heartbeats"),
    body,
  );
  print(answer, options, () => addressOf(answer, options));
}

/** A box that doesn't know its public address leaves it out of the answer. */
function addressOf({ ping_url }: { ping_url: string }, options: ApiOptions): string {
  return ping_url.startsWith("/") ? urlOf(options) + ping_url : ping_url;
}

async function set(place: string, options: PaceOptions): Promise<void> {
  const answer = await api.patch<HeartbeatAnswer>(options, place, paceOf(options));
  print(answer, options, () => `${answer.name}: ${expectation(answer)}, ${answer.state}`);
}

async function show(place: string, options: ApiOptions): Promise<void> {
  const [heartbeat, { runs }] = await Promise.all([
    api.get<HeartbeatAnswer>(options, place),
    api.get<{ runs: HeartbeatRun[] }>(options, `${place}/runs?limit=10`),
  ]);
  print({ ...heartbeat, runs }, options, () => shownText(heartbeat, runs));
}

function shownText(one: HeartbeatAnswer, runs: readonly HeartbeatRun[]): string {
  const rows = [
    ["state", one.reason === null ? one.state : `${one.state} (${one.reason})`],
    ["expected", `${expectation(one)}, and ${one.grace_seconds} s of grace`],
    ["due", one.due_at === null ? "nothing" : when(one.due_at)],
    ["rule", one.rule ?? "none: nobody is notified"],
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
