import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { duration } from "../src/out/outbox/message.ts";
import { numbersCsv } from "../src/records/numbers/csv.ts";
import type { DigestAnswer, DigestSent } from "../src/records/numbers/digest.ts";
import type { TenantSettings } from "../src/records/numbers/settings.ts";
import {
  type NumbersAnswer,
  type NumbersBy,
  type NumbersRow,
  numbersBy,
} from "../src/records/numbers/shape.ts";
import { api, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable, tableOf, when } from "./table.ts";

const numbersFlags = {
  "--weeks <n>": { about: "how many weeks, this week included", usual: "8" },
  "--by <what>": {
    about: `a row for each ${numbersBy.join(", ")}`,
    choices: numbersBy,
    usual: "week",
  },
  "--project <name>": "of this project alone",
  "--plot": "draw the interruptions, or by rule and level the alerts",
  "--csv": "print comma-separated values, with every figure",
} as const;
type NumbersOptions = GivenBy<typeof numbersFlags>;

const settingsFlags = {
  "--open <whose>": {
    about: "whose figures a member sees: all (everybody's) or own (default own)",
    choices: ["all", "own"],
  },
  "--timezone <name>": "the clock by which days are counted, such as Europe/Vienna",
} as const;

export function registerNumbers(program: Command): void {
  apiFlags(program.command("numbers"), numbersFlags)
    .description(
      "show who was paged how often, at night, and by what; docs/numbers.md says what each figure means",
    )
    .action(numbers);
  apiFlags(program.command("settings"), settingsFlags)
    .description(
      "show the box's settings, or change them: whose figures members see, and by which clock days are counted",
    )
    .action(settings);
  registerDigest(program);
}

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

const digestFlags = {
  "--channel <id>": "id of a channel (from box integration list PROJECT)",
  "--contact <id>": "id of a person's contact (from box contact list)",
  "--weekday <day>": { about: WEEKDAYS.join(", "), choices: WEEKDAYS, usual: "mon" },
  "--hour <n>": { about: "0 to 23, on the box's clock (box settings)", usual: "6" },
};

function registerDigest(program: Command): void {
  const digest = program
    .command("digest")
    .description("the weekly message: last week's figures, what to change, and next week's shifts");
  apiFlags(digest.command("show"))
    .description("show where the weekly digest is sent, and when")
    .action(async (options: ApiOptions) => {
      printDigest(options, await api.get<DigestAnswer>(options, "/v1/digest"));
    });
  apiFlags(digest.command("set"), digestFlags)
    .description("send the weekly digest, to a channel or to a person's contact")
    .action(setDigest);
  apiFlags(digest.command("off"))
    .description("stop sending the weekly digest")
    .action(async (options: ApiOptions) => {
      const off = { enabled: false };
      printDigest(options, await api.put<DigestAnswer>(options, "/v1/digest", off));
    });
  apiFlags(digest.command("send"))
    .description("send the digest of the last whole week now")
    .action(async (options: ApiOptions) => {
      const sent = await api.post<DigestSent>(options, "/v1/digest/send", {});
      print(sent, options, () => (sent.ok ? "accepted" : `not accepted: ${sent.error}`));
      if (!sent.ok) process.exitCode = exitCodes.failure;
    });
}

async function setDigest(options: GivenBy<typeof digestFlags>): Promise<void> {
  const { contact, channel, weekday, hour } = options;
  if ((contact === undefined) === (channel === undefined))
    throw new CommandError("give --channel or --contact", exitCodes.usage);
  const body = {
    enabled: true,
    to: contact === undefined ? { integration: channel } : { contact },
    weekday: WEEKDAYS.indexOf(weekday) + 1,
    hour: Number(hour),
  };
  printDigest(options, await api.put<DigestAnswer>(options, "/v1/digest", body));
}

function printDigest(options: ApiOptions, digest: DigestAnswer): void {
  const { to, next, sent_at, error } = digest;
  print(digest, options, () => {
    if (to === null || next === null) return "the weekly message is off";
    const whom = "contact" in to ? `contact ${to.contact}` : `channel ${to.integration}`;
    return [
      `goes to ${whom}, next ${when(next)}`,
      ...(sent_at === null ? [] : [`the last one was accepted ${when(sent_at)}`]),
      ...(error === null ? [] : [`the latest attempt failed: ${printable(error)}`]),
    ].join("\n");
  });
}

async function settings(options: GivenBy<typeof settingsFlags>): Promise<void> {
  const { open, timezone } = options;
  const change = {
    ...(open !== undefined && { numbers_open: open === "all" }),
    ...(timezone !== undefined && { numbers_timezone: timezone }),
  };
  const isChange = Object.keys(change).length > 0;
  const answer = isChange
    ? await api.patch<TenantSettings>(options, "/v1/settings", change)
    : await api.get<TenantSettings>(options, "/v1/settings");
  print(answer, options, () =>
    [
      `members see ${answer.numbers_open ? "the figures of everybody" : "their own figures"}`,
      `days are counted in ${answer.numbers_timezone}`,
    ].join("\n"),
  );
}

const WEEK = 7 * 86_400;

async function numbers(options: NumbersOptions): Promise<void> {
  const weeks = Number(options.weeks);
  if (!Number.isInteger(weeks) || weeks < 1 || weeks > 114)
    throw new CommandError(`--weeks must be 1 to 114, not "${options.weeks}"`, exitCodes.usage);
  const { by, project } = options;
  const now = unixSeconds(systemClock);
  const from = mondayBefore(now) - (weeks - 1) * WEEK;
  const at = queried(v1("numbers"), { by, from, to: now + 1, project });
  const answer = await api.get<NumbersAnswer>(options, at);
  if (options.csv === true) process.stdout.write(numbersCsv(answer));
  else print(answer, options, () => numbersText(answer, options));
}

/** A Monday's noon in UTC, which is a Monday in nearly every zone; at most now. The Epoch was a Thursday. */
function mondayBefore(now: number): number {
  const monday = now - ((now + 3 * 86_400) % WEEK);
  return Math.min(now, monday + 43_200);
}

function numbersText(answer: NumbersAnswer, { by, plot }: NumbersOptions): string {
  const { rows, complete } = answer;
  const span = (seconds: number | null) => (seconds === null ? "" : duration(seconds));
  const columns = {
    [by.toUpperCase()]: ({ key, name }: NumbersRow) => (by === "person" ? name : key),
    OPENED: ({ opened }: NumbersRow) => opened,
    PAGES: ({ pages }: NumbersRow) => pages,
    INTERRUPTED: ({ interruptions }: NumbersRow) => interruptions,
    "AT NIGHT": ({ night_interruptions: night }: NumbersRow) => night,
    "NIGHTS BROKEN": ({ nights_broken: nights }: NumbersRow) => nights,
    ACKED: ({ acknowledged }: NumbersRow) => acknowledged,
    "HALF WITHIN": (row: NumbersRow) => span(row.opened_to_acknowledged_p50),
    "ENDED ALONE": ({ ended_by_themselves: ended }: NumbersRow) => ended,
    NOBODY: ({ reached_nobody: nobody }: NumbersRow) => nobody,
    "ON CALL H": ({ on_call_hours: hours }: NumbersRow) => hours ?? "",
  };
  return [
    rows.length === 0 ? "nothing happened" : tableOf(columns, rows),
    ...(plot === true ? ["", ...plotOf(rows, by)] : []),
    ...(complete ? [] : ["", "older history is still being read: look again in a minute"]),
  ].join("\n");
}

const WIDEST = 50;

/** A bar for each row: of interruptions, or of alerts where those say more. */
function plotOf(rows: readonly NumbersRow[], by: NumbersBy): string[] {
  const isOfAlerts = by === "rule" || by === "level";
  const of = (row: NumbersRow) => (isOfAlerts ? row.opened : row.interruptions);
  const most = Math.max(1, ...rows.map(of));
  const names = rows.map(({ name }) => printable(name));
  const wide = Math.max(0, ...names.map((name) => name.length));
  return [
    isOfAlerts ? "alerts" : "interruptions",
    ...rows.map((row, i) => {
      const bar = "█".repeat(Math.round((of(row) / most) * WIDEST));
      return `${(names[i] ?? "").padEnd(wide)}  ${bar}${bar === "" ? "" : " "}${of(row)}`;
    }),
  ];
}
