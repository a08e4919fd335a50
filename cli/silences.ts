import type { Command } from "commander";
import type { Alert } from "../src/core/alerts/alert.ts";
import type { OfferedSilence } from "../src/core/alerts/narrowest.ts";
import type { SilencePreview, TitledAlert } from "../src/core/alerts/silencing.ts";
import type { LabelCondition } from "../src/core/projects/condition.ts";
import { CRITICAL } from "../src/core/quiet/decide.ts";
import { labelText, readLabel } from "../src/core/quiet/label-text.ts";
import type { SilenceAnswer } from "../src/core/quiet/silence.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { namesOf } from "./accounts.ts";
import { api, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp } from "./level.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { type Columns, printable, short, when } from "./table.ts";
import { localZone } from "./terminal.ts";
import { spanEnd, timeHelp } from "./times.ts";

export function registerSilences(program: Command): void {
  const group = program.command("silence").description("silences: keep alerts quiet on purpose");
  const silence = nounCommands(group, { of: "", one: "<id>", at: () => "/v1/silences" });
  silence
    .list<SilenceAnswer, ListOptions>(
      "list silences that aren't over, and those of the past 30 days",
      listColumns,
      {
        none: "nothing is silenced",
        query: ({ state }) => queried("", { state }),
      },
    )
    .option("--state <state>", "active, planned or over");
  apiFlags(group.command("add"), addFlags)
    .description(
      "silence alerts that match; when it ends, what is still open is sent. Alerts of level 500 and above only with --critical",
    )
    .action(add);
  apiFlags(group.command("preview"), matchFlags)
    .description(
      "show what a silence would match now, and what it would have held back in the past seven days",
    )
    .action(preview);
  apiFlags(group.command("alert <id>"), alertFlags)
    .description(
      "silence one alert: its rule, template and identifiers, and the labels that tell it from others of its rule",
    )
    .action(ofAlert);
  silence.verb("set", "change when a silence ends", set, endFlags);
  silence.delete("end a silence: what it held back and is still open is sent now", "end", "ended");
  apiFlags(program.command("snooze <id>"), endFlags)
    .description(
      "acknowledge an alert until a time; if it is still open then, its ladder begins again",
    )
    .action(snooze);
}

const endFlags = {
  "--until <time>": `when it ends: ${timeHelp}`,
  "--for <length>": "or how long it lasts: 1h, 90m",
};

const matchFlags = {
  ...endFlags,
  "--project <name>": "of one project (default: every project)",
  "--rule <name>": "only of this rule",
  "--template <id>": "only of this template",
  "--identifier <name=value>": { about: "only with this identifier (repeatable)", repeats: true },
  "--label <condition>": {
    about:
      "only with this label: host=db7, zone!=eu, or a pattern of the whole value: 'service=~web.*', 'pod!~test-.*' (repeatable)",
    repeats: true,
  },
  "--source <name>": { about: "only from this source (repeatable)", repeats: true },
  "--below <level>": `below this level: ${levelHelp}`,
  "--critical": "critical alerts (level 500 and above), too",
  "--all": "needed if nothing but a project or a level limits the silence",
  "--from <time>": "when it begins (default now)",
  "--repeat <how>": "daily or weekly, at the same local times",
  "--repeat-until <time>": "when the repeating ends",
  "--timezone <zone>": "time zone of --repeat (default: this terminal's)",
  "--name <text>": "make a maintenance with this name in place of a silence",
} as const;

const addFlags = {
  ...matchFlags,
  "--reason <text>": { must: "why" },
  "--tell": "send you a message when it ends by itself",
} as const;

const alertFlags = {
  ...endFlags,
  "--critical": "needed if the alert is critical (level 500 and above)",
  "--reason <text>": "why",
};

type EndOptions = GivenBy<typeof endFlags>;
type MatchOptions = GivenBy<typeof matchFlags>;

function writeOf(options: MatchOptions & { reason?: string; tell?: true }): object {
  const { project, rule, template, below, from, repeat, name } = options;
  const { critical = false, all = false, reason = "preview", tell = false } = options;
  return {
    project,
    match: {
      rule,
      template_id: template,
      identifiers: Object.fromEntries(options.identifier.map(pairOf)),
      sources: options.source,
      below_level: below,
    },
    ...(options.label.length > 0 && { labels: options.label.map(conditionOf) }),
    critical,
    all,
    starts_at: from,
    ends_at: spanEnd(options, from ?? unixSeconds(systemClock)),
    ...(repeat !== undefined && { repeat, timezone: options.timezone ?? localZone() }),
    repeat_until: options.repeatUntil,
    ...(name !== undefined && { kind: "maintenance", name }),
    reason,
    ...(tell && { tell_author: true }),
  };
}

function pairOf(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CommandError(`--identifier takes name=value, not "${text}"`, exitCodes.usage);
}

function conditionOf(text: string): LabelCondition {
  const condition = readLabel(text);
  if (condition !== null) return condition;
  const forms = "name=value, name!=value, name=~pattern or name!~pattern";
  throw new CommandError(`--label takes ${forms}, not "${text}"`, exitCodes.usage);
}

async function add(options: GivenBy<typeof addFlags>): Promise<void> {
  const answer = await api.post<SilenceAnswer>(options, "/v1/silences", writeOf(options));
  print(answer, options, () => `${answer.id} ${lasts(answer)}`);
}

async function ofAlert(id: string, options: GivenBy<typeof alertFlags>): Promise<void> {
  const ends_at = spanEnd(options, unixSeconds(systemClock));
  const alert = await api.get<Alert>(options, v1("alerts", id));
  if (alert.level >= CRITICAL && options.critical !== true)
    throw new CommandError(
      `alert ${id} is critical: add --critical to silence it`,
      exitCodes.usage,
    );
  const from = v1("alerts", id, "silence");
  const { silence, also, also_before, folds } = await api.get<OfferedSilence>(options, from);
  const answer = await api.post<SilenceAnswer>(options, "/v1/silences", {
    ...silence,
    ends_at,
    critical: options.critical === true,
    reason: options.reason ?? silence.reason,
  });
  print(answer, options, () =>
    [
      `${answer.id} ${lasts(answer)}: ${matchText(answer)}`,
      `other open alerts that it silences: ${also.length}; others of the past 7 days like it: ${also_before}`,
      ...namesOfAlerts(also.slice(0, 12), also.length),
      ...Object.entries(folds).map(([name, values]) =>
        printable(
          `the rule counts several values of ${name} into this alert (${values.join(", ")}): a silence matches all or none. As an identifier of the rule each has an alert of its own`,
        ),
      ),
    ].join("\n"),
  );
}

async function set(place: string, options: EndOptions): Promise<void> {
  const body = { ends_at: spanEnd(options, unixSeconds(systemClock)) };
  const answer = await api.patch<SilenceAnswer>(options, place, body);
  print(answer, options, () => `${answer.id} ${lasts(answer)}`);
}

async function preview(options: MatchOptions): Promise<void> {
  const answer = await api.post<SilencePreview>(options, "/v1/silences/preview", writeOf(options));
  const { open, named, past } = answer;
  print(answer, options, () =>
    [
      `now: ${open === 0 ? "no open alert" : `${open} open`}`,
      ...namesOfAlerts(named, open),
      `in the past ${past.days} days: ${past.alerts} alerts, ${past.pages} pages; critical ones like it: ${past.critical}`,
      ...namesOfAlerts(past.named, past.alerts),
    ].join("\n"),
  );
}

/** "  #130 disk full on db7", and how many more there are. */
function namesOfAlerts(named: readonly TitledAlert[], count: number): string[] {
  const lines = named.map(({ id, title }) => `  #${id} ${printable(short(title, 100))}`);
  return count > named.length ? [...lines, `  and ${count - named.length} more`] : lines;
}

type ListOptions = ApiOptions & { state?: string };

async function listColumns(options: ListOptions): Promise<Columns<SilenceAnswer>> {
  const nameOf = await namesOf(options);
  return {
    ID: ({ id }) => id,
    WHEN: lasts,
    WHAT: matchText,
    HOLDS: ({ holds }) => holds,
    BY: ({ created_by }) => nameOf(created_by),
    WHY: ({ name, reason }) => short(printable(name || reason), 60),
  };
}

function lasts({ state, until, next_at }: SilenceAnswer): string {
  if (until !== null) return `until ${when(until)}`;
  return next_at === null ? state : `from ${when(next_at)}`;
}

function matchText({ project, match, conditions, labels, all }: SilenceAnswer): string {
  const identifiers = Object.entries(match.identifiers).map(([name, value]) => `${name}=${value}`);
  const narrowed = [
    match.rule,
    match.template_id,
    ...identifiers,
    ...labels.map(labelText),
    ...match.sources,
    ...conditions.map(({ key, op }) => `${key} ${op} …`),
    all ? "everything" : null,
    match.below_level === null ? null : `below ${match.below_level}`,
  ].filter((part) => part !== null);
  return printable(`${project ?? "every project"}: ${narrowed.join(", ")}`);
}

async function snooze(id: string, options: EndOptions): Promise<void> {
  const until = spanEnd(options, unixSeconds(systemClock));
  const answer = await api.post<Alert>(options, v1("alerts", id, "snooze"), {
    until,
  });
  print(answer, options, () => `alert ${id} is acknowledged until ${when(until)}`);
}
