import type { DryRun, Weeks } from "../src/in/ingest/dry-run/dry-run.ts";
import { namesOf } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readNamed, readText } from "./files.ts";
import { type GivenBy, print } from "./options.ts";
import { printable, short, table, when } from "./table.ts";
import { hoursByDay } from "./times.ts";

export const tryFlags = {
  "--days <n>": { about: "days to look back, 1 to 30", usual: "7" },
  "--plot":
    "draw when alerts would open, a row a day, a bar an hour; with first_seen_days, unusual or missing also the last four weeks",
  "--versus <rule>": "compare with the alerts of this saved rule",
  "--lines <file>": "use the lines of this file (- = standard input), not the kept ones",
};

/** `box rule try`: what a rule from a file would have opened. */
export async function tryRule(
  project: string,
  file: string,
  options: GivenBy<typeof tryFlags>,
): Promise<void> {
  const days = Number(options.days);
  if (!Number.isInteger(days) || days < 1 || days > 30)
    throw new CommandError(`--days must be 1 to 30, not "${options.days}"`, exitCodes.usage);
  const { versus, lines } = options;
  const body = {
    rule: await readNamed(file, "a rule"),
    days,
    weeks: options.plot === true,
    ...(versus === undefined ? {} : { versus }),
    ...(lines === undefined ? {} : { lines: await linesOf(lines) }),
  };
  const from = v1("projects", project, "rules", "dry-run");
  const answer = await api.post<DryRun>(options, from, body);
  const nameOf = await namesOf(options);
  print(answer, options, () =>
    dryRunText(answer, { days, plot: options.plot === true, versus, nameOf }),
  );
}

const MOST_LINES = 1000;

async function linesOf(file: string): Promise<string[]> {
  const lines = (await readText(file)).split(/\r?\n/).filter((line) => line !== "");
  if (lines.length > 0 && lines.length <= MOST_LINES) return lines;
  throw new CommandError(
    `--lines takes 1 to ${MOST_LINES} lines, and ${file} has ${lines.length}`,
    exitCodes.usage,
  );
}

interface Shown {
  days: number;
  plot: boolean;
  versus: string | undefined;
  nameOf(id: string): string;
}

const WHY = {
  time: "it took too long: only some of the days were read",
  memory: "it has too many alerts and windows: only some of the days were read",
  retention: "older lines are no longer kept",
};

function dryRunText(run: DryRun, { days, plot, versus, nameOf }: Shown): string {
  const { range, scanned, alerts, near, warnings } = run;
  const shown = alerts.map((alert) => [
    when(alert.opened_at),
    alert.count,
    minutes(alert),
    short(alert.template, 60),
    keysText(alert.identifiers),
    alert.paged.map(nameOf).join(", "),
  ]);
  const missed = near.map(
    ({ at, best, needed, template }) =>
      `just missed: ${when(at)}  ${best} of ${needed}  ${printable(short(template, 60))}`,
  );
  const count = `${run.alert_count} ${run.alert_count === 1 ? "alert" : "alerts"}`;
  const without = scanned.sources_without_logs.map(printable).join(", ");
  return [
    `It would have opened ${count} in ${days} days; ${run.matched} of ${scanned.lines} lines match.`,
    `It would have paged ${times(run.page_count)}, ${run.night_page_count} of them at night (22 to 7).`,
    ...(run.versus === null ? [] : versusText(run.versus, versus ?? "")),
    ...(plot && run.buckets.length > 0 ? ["", plotText(run, days)] : []),
    ...(run.weeks === null ? [] : ["", ...weeksText(run.weeks)]),
    ...(shown.length > 0
      ? ["", table(["OPENED", "EVENTS", "LASTED", "TEMPLATE", "KEYS", "WOULD PAGE"], shown)]
      : []),
    ...(missed.length > 0 ? ["", ...missed] : []),
    "",
    ...(range.why === null
      ? []
      : [`Looked at ${when(range.from)} to ${when(range.until)}: ${WHY[range.why]}.`]),
    ...(without === "" ? [] : [`Not in it, because they store no lines: ${without}.`]),
    `Alerts are taken to end after ${run.assume_resolved_after} s where the rule doesn't end them.`,
    ...warnings.map(({ detail }) => `Note: ${printable(detail)}`),
  ].join("\n");
}

const keysText = (keys: Readonly<Record<string, string>>) =>
  Object.entries(keys)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");

const times = (n: number) => (n === 1 ? "once" : `${n} times`);

const MOST_SHOWN = 20;

function versusText(
  { alerts, only_new, only_old }: NonNullable<DryRun["versus"]>,
  rule: string,
): string[] {
  const list = (all: readonly (number | string)[], shown: (one: number | string) => string) =>
    all.slice(0, MOST_SHOWN).map(shown).join(", ") + (all.length > MOST_SHOWN ? ", …" : "");
  return [
    `The saved rule ${printable(rule)} opened ${alerts} in that time.`,
    ...(only_new.length > 0
      ? [`New: ${only_new.length}, opened ${list(only_new, (at) => when(Number(at)))}.`]
      : []),
    ...(only_old.length > 0
      ? [`No longer: ${only_old.length}, alerts ${list(only_old, String)}.`]
      : []),
  ];
}

function minutes({ opened_at, ended_at }: DryRun["alerts"][number]): string {
  return ended_at === null ? "goes on" : `${Math.round((ended_at - opened_at) / 60)} min`;
}

/** What came in four weeks, and where the rule would have fired by what is counted. */
function weeksText({
  fired,
  fired_count,
  compares_from,
  from,
  until,
  complete,
  hours,
}: Weeks): string[] {
  const most = Math.max(1, ...hours.map(({ events }) => events));
  const byHour = new Map(hours.map((hour) => [hour.at, hour]));
  const bar = (at: number) => {
    const { events, fired } = byHour.get(at) ?? { events: 0, fired: 0 };
    return fired > 0 ? "▲" : (BARS[Math.ceil((events / most) * 8)] ?? " ");
  };
  const told = fired
    .slice(-MOST_SHOWN)
    .map(({ at, came, usually, template, identifiers }) => [
      when(at),
      came ?? "",
      usually ?? "",
      short(template, 60),
      keysText(identifiers),
    ]);
  const unknown =
    compares_from === null
      ? ["Nothing that this rule looks at is counted yet."]
      : compares_from > from
        ? [
            `Before ${when(compares_from)} it isn't known: too little was counted, or it is no longer kept.`,
          ]
        : [];
  return [
    `In the last four weeks it would have fired ${times(fired_count)}, by what is counted by the hour.`,
    ...unknown,
    ...(complete ? [] : ["There is so much that not all of it was looked at."]),
    ...(hours.length === 0
      ? []
      : [
          "A row a day, a bar an hour of events, ▲ where it would have fired:",
          dayRows({ from, until }, bar),
        ]),
    ...(told.length === 0 ? [] : [table(["FIRED", "CAME", "USUALLY", "TEMPLATE", "KEYS"], told)]),
  ];
}

const BARS = " ▁▂▃▄▅▆▇█";
const HOUR = 3600;

/** A row for each day and a character for each hour: its height is the alerts opened, a dot means matches only. */
function plotText({ buckets, range }: DryRun, days: number): string {
  const most = Math.max(1, ...buckets.map(({ alerts }) => alerts));
  const byHour = new Map(buckets.map((bucket) => [bucket.at, bucket]));
  const first = range.until - (range.until % HOUR) - days * 24 * HOUR;
  return dayRows({ from: first, until: range.until }, (at) => {
    const bucket = byHour.get(at);
    if (bucket === undefined) return " ";
    return bucket.alerts === 0 ? "·" : (BARS[Math.ceil((bucket.alerts / most) * 8)] ?? " ");
  });
}

/** A row for each day, a character for each hour that begins then. */
function dayRows(
  { from, until }: { from: number; until: number },
  bar: (at: number) => string,
): string {
  const count = Math.floor((until - from) / HOUR) + 1;
  const hours = Array.from({ length: count }, (_, i) => ({ at: from + i * HOUR }));
  return hoursByDay(hours)
    .map(({ day, before, hours }) => {
      const bars = hours.map(({ at }) => bar(at)).join("");
      return `${day} |${`${before}${bars}`.padEnd(24)}|`;
    })
    .join("\n");
}
