import type { Command } from "commander";
import type { Alert } from "../src/core/alerts/alert.ts";
import type { BulkAnswer } from "../src/core/alerts/bulk.ts";
import type { AlertDetail } from "../src/core/alerts/detail.ts";
import type { GroupAnswer } from "../src/core/alerts/group-facts.ts";
import type { ReachEntry } from "../src/core/alerts/reach-report.ts";
import type { TimelineEntry } from "../src/core/alerts/timeline.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { levelName } from "../src/ground/kit/level.ts";
import { namesOf } from "./accounts.ts";
import {
  aheadText,
  chipsText,
  linesFlags,
  saidRows,
  sharedText,
  showLines,
} from "./alert-detail.ts";
import { registerAlertVerbs } from "./alert-verbs.ts";
import { api, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { reasonText, wayText } from "./reached.ts";
import { age, printable, short, table, when } from "./table.ts";
import { entryText } from "./timeline.ts";

export function registerAlerts(program: Command): void {
  apiFlags(program.command("alerts"), listFlags)
    .description("list alerts, newest first; --follow prints new ones as they open")
    .action(listAlerts);
  const alert = program
    .command("alert")
    .description("one alert: what happened, who was notified, its log lines");
  apiFlags(alert.command("show <id>"))
    .description(
      "show an alert: what is wrong, since when, how often, what comes next, and its timeline",
    )
    .action(showAlert);
  apiFlags(alert.command("pages <id>"))
    .description("show who was notified by what, when and with what result; who wasn't, and why")
    .action(showPages);
  apiFlags(alert.command("lines <id>"), linesFlags)
    .description("show kept log lines around an alert's opening, and the values that vary")
    .action(showLines);
  apiFlags(program.command("ack [id...]"), manyFlags)
    .description(
      "acknowledge these alerts, or with --all every open alert of --project or --rule; their further events page nobody (exceptions: docs/how-to/escalate.md)",
    )
    .action(changeAlerts("ack"));
  apiFlags(program.command("resolve [id...]"), manyFlags)
    .description(
      "resolve these alerts, or with --all all of --project or --rule; when the rule fires again, a new alert opens (for a dedup_key and instance that its sender only repeats: after an hour)",
    )
    .action(changeAlerts("resolve"));
  registerAlertVerbs(program);
  apiFlags(program.command("timeline <id>"))
    .description("show the timeline of an alert: who did what, and when")
    .action(showTimeline);
}

const manyFlags = {
  "--all": "all alerts of --project, or of its --rule",
  "--project <name>": "with --all: only of this project",
  "--rule <name>": "with --all and --project: only of this rule",
};
type ManyOptions = GivenBy<typeof manyFlags>;

const listFlags = {
  "--project <name>": "only of this project",
  "--state <state>": "open, acknowledged or resolved; several: open,acknowledged",
  "--rule <name>": "only of this rule",
  "--q <text>": '#130, level:error, rule:"slow payments", key:provider=acme, or words',
  "--mine": "only alerts that paged you, were assigned to you, or were acknowledged by you",
  "--by-rule": "a line for each rule that has unresolved alerts, the most urgent first",
  "--limit <n>": { about: "how many", usual: "50" },
  "--follow": "print alerts as they open",
};
type ListOptions = GivenBy<typeof listFlags>;

async function listAlerts(options: ListOptions): Promise<void> {
  if (options.byRule) return await listGroups(options);
  const answer = await api.get<{ alerts: Alert[] }>(options, addressOf(options));
  print(answer, options, () =>
    answer.alerts.length === 0 ? "no alerts" : alertTable(answer.alerts),
  );
  if (options.follow)
    await follow(options, Math.max(0, ...answer.alerts.map((alert) => Number(alert.id))));
}

function addressOf(options: ListOptions, more: { order?: string; group?: string } = {}): string {
  const { mine, project, state, rule, q, limit } = options;
  return queried(v1("alerts"), { limit, mine, project, state, rule, q, ...more });
}

async function listGroups(options: ListOptions): Promise<void> {
  if (options.follow)
    throw new CommandError("--follow can't be used with --by-rule", exitCodes.usage);
  const from = addressOf(options, { order: "need", group: "rule" });
  const answer = await api.get<{ groups: GroupAnswer[] }>(options, from);
  const now = unixSeconds(systemClock);
  const levels = (group: GroupAnswer) =>
    Object.entries(group.levels)
      .sort(([a], [b]) => Number(b) - Number(a))
      .map(([level, count]) => `${count} ${levelName(Number(level))}`)
      .join(", ");
  print(answer, options, () =>
    table(
      [
        "ALERTS",
        "LEVELS",
        "ACKED",
        "SILENCED",
        "SINCE",
        "PROJECT",
        "RULE",
        "ALL HAVE",
        "MOST OFTEN",
      ],
      answer.groups.map((group) => [
        group.count,
        levels(group),
        group.states.acknowledged,
        group.states.silenced,
        age(group.since, now),
        group.project,
        group.rule,
        short(sharedText(group), 80),
        group.titles
          .map(
            ({ title, count }) => short(title, 60) + (count > 1 ? ` and ${count - 1} like it` : ""),
          )
          .join(", "),
      ]),
    ),
  );
}

async function follow(options: ListOptions, from: number): Promise<never> {
  let cursor = from;
  for (;;) {
    const answer = await api.get<{ alerts: Alert[]; cursor: number }>(
      options,
      `/v1/pull?cursor=${cursor}&wait=60`,
    );
    cursor = answer.cursor;
    for (const alert of answer.alerts) print(alert, options, () => openedText(alert));
  }
}

function openedText({ id, first_seen, level, project, rule, title }: Alert): string {
  const name = printable(`${project}/${rule}`);
  const words = printable(title);
  return `${when(first_seen)}  #${id}  ${levelName(level)}  ${name}  ${words}`;
}

function alertTable(alerts: readonly Alert[]): string {
  const now = unixSeconds(systemClock);
  return table(
    ["ID", "STATE", "LEVEL", "COUNT", "AGE", "PROJECT", "RULE", "TITLE", "APART"],
    alerts.map((alert) => [
      alert.id,
      alert.state,
      levelName(alert.level),
      alert.count,
      age(alert.first_seen, now),
      alert.project,
      alert.rule,
      short(alert.title, 80),
      short(chipsText(alert), 80),
    ]),
  );
}

function changeAlerts(verb: "ack" | "resolve") {
  return async (ids: string[], options: ManyOptions): Promise<void> => {
    const { all = false, project, rule } = options;
    if (all) return await changeAll(verb, ids, options);
    if (ids.length === 0 || project !== undefined || rule !== undefined)
      throw new CommandError(
        `${verb} takes ids of alerts, or --all with --project NAME (and --rule NAME)`,
        exitCodes.usage,
      );
    const alerts: Alert[] = [];
    for (const id of ids) alerts.push(await api.post<Alert>(options, v1("alerts", id, verb)));
    print({ alerts }, options, () => alertTable(alerts));
  };
}

async function changeAll(
  verb: "ack" | "resolve",
  ids: readonly string[],
  options: ManyOptions,
): Promise<void> {
  const { project, rule } = options;
  if (ids.length > 0 || project === undefined)
    throw new CommandError(`${verb} --all takes no ids, and needs --project`, exitCodes.usage);
  const body = { where: { project, ...(rule === undefined ? {} : { rule }) }, verb };
  const answer = await api.post<BulkAnswer>(options, "/v1/alerts/bulk", body);
  const done = verb === "ack" ? "acknowledged" : "resolved";
  const { changed } = answer.counts;
  print(answer, options, () => `${changed} ${changed === 1 ? "alert" : "alerts"} ${done}`);
}

async function showPages(id: string, options: ApiOptions): Promise<void> {
  const from = v1("alerts", id, "pages");
  const { pages } = await api.get<{ pages: ReachEntry[] }>(options, from);
  const nameOf = await namesOf(options);
  print({ pages }, options, () =>
    table(
      ["WHO", "WAY", "WHAT BECAME OF IT", "WHEN", "ERROR"],
      pages.map((page) => [
        page.name ?? page.account_id ?? "nobody",
        wayText(page),
        reasonText(page, nameOf),
        page.at === null ? "" : when(page.at),
        short(page.error ?? "", 80),
      ]),
    ),
  );
}

async function timelineOf(id: string, options: ApiOptions): Promise<TimelineEntry[]> {
  const from = v1("alerts", id, "timeline");
  return (await api.get<{ timeline: TimelineEntry[] }>(options, from)).timeline;
}

async function showTimeline(id: string, options: ApiOptions): Promise<void> {
  const timeline = await timelineOf(id, options);
  const nameOf = await namesOf(options);
  print({ timeline }, options, () => timelineText(timeline, nameOf));
}

function timelineText(timeline: readonly TimelineEntry[], nameOf: (id: string) => string): string {
  return timeline.map((entry) => `${when(entry.at)}  ${entryText(entry, nameOf)}`).join("\n");
}

async function showAlert(id: string, options: ApiOptions): Promise<void> {
  const detail = await api.get<AlertDetail>(options, v1("alerts", id, "detail"));
  const timeline = await timelineOf(id, options);
  const nameOf = await namesOf(options);
  print({ ...detail, timeline }, options, () =>
    [
      alertText(detail.alert, timeline, nameOf),
      "",
      aheadText(detail, nameOf),
      "",
      timelineText(timeline, nameOf),
    ].join("\n"),
  );
}

function alertText(
  alert: Alert,
  timeline: readonly TimelineEntry[],
  nameOf: (id: string) => string,
): string {
  const now = unixSeconds(systemClock);
  const since = (at: number) => `${when(at)}, ${age(at, now)} ago`;
  const source = timeline.find(({ kind }) => kind === "opened")?.detail["source"];
  const rows: [string, string][] = [
    ["title", alert.title],
    ["state", alert.state],
    ["level", levelName(alert.level)],
    ["project", alert.project],
    ["rule", alert.rule],
    ...(source === undefined ? [] : [["source", String(source)] as [string, string]]),
    ["message", short(alert.last_message, 500)],
    ["template", short(alert.template, 500)],
    ...saidRows(alert),
    ["events", String(alert.count)],
    ["first", since(alert.first_seen)],
    ["last", since(alert.last_seen)],
    ["paged", alert.page_accounts.map(nameOf).join(", ") || "nobody"],
  ];
  return [`alert ${alert.id}`, table([], rows)].join("\n");
}
