import type { Command } from "commander";
import {
  type Layer,
  type PreviewAnswer,
  peopleOfLayers,
  type StoredSchedule,
} from "../src/core/oncall/schedule.ts";
import { wallTime } from "../src/ground/kit/wall-time.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { api, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { readNamed } from "./files.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { type Columns, printable, table, when } from "./table.ts";
import { localZone } from "./terminal.ts";
import { parseTime } from "./times.ts";

export function registerSchedules(program: Command): void {
  const group = program.command("schedule").description("on-call schedules");
  const schedule = nounCommands(group, {
    of: "<project>",
    one: "<schedule>",
    at: ([project = ""]) => schedulePath(project),
  });
  schedule
    .list<StoredSchedule, ListOptions>("list schedules", listColumns, {
      query: ({ shared }) => (shared ? "?shared=true" : ""),
    })
    .option("--shared", "also the shared schedules of other projects");
  schedule.verb(
    "show",
    "show a schedule: its layers, who is on call when, and gaps when nobody is",
    show,
    showFlags,
  );
  apiFlags(group.command("set <project> <file>"))
    .description(
      "create or replace a schedule, by its name, from a JSON file (- = standard input); people by email, rotation_start as a time",
    )
    .action(set);
  apiFlags(group.command("share <project> <schedule>"), shareFlags)
    .description("let the ladders of every project name a schedule, as PROJECT/SCHEDULE")
    .action(share);
  schedule.delete("delete a schedule that neither a ladder nor the fallback names");
}

export function schedulePath(project: string, ...rest: string[]): string {
  return v1("projects", project, "oncall", "schedules", ...rest);
}

type ListOptions = ApiOptions & { shared?: boolean };

async function listColumns(options: ListOptions, project = ""): Promise<Columns<StoredSchedule>> {
  const nameOf = await namesOf(options);
  return {
    NAME: ({ name, project: home }) => (home === project ? name : `${home}/${name}`),
    "TIME ZONE": ({ timezone }) => timezone,
    LAYERS: ({ layers }) => layers.length,
    SHARED: ({ shared }) => (shared ? "yes" : ""),
    PEOPLE: (schedule) => peopleOfLayers(schedule.layers).map(nameOf).join(", "),
  };
}

const shareFlags = { "--off": "stop sharing: only ladders of its own project may use it" };

async function share(
  project: string,
  name: string,
  options: GivenBy<typeof shareFlags>,
): Promise<void> {
  const place = schedulePath(project, name);
  const schedule = await api.get<StoredSchedule>(options, place);
  const shared = options.off !== true;
  const answer = await api.put<object>(options, place, { ...schedule, shared });
  const said = shared
    ? `ladders of every project may name it ${project}/${name}`
    : `${name} is ${project}'s own`;
  print(answer, options, () => said);
}

const showFlags = { "--until <time>": "how far to look (default 14 days)" };

async function show(place: string, options: GivenBy<typeof showFlags>): Promise<void> {
  const schedule = await api.get<StoredSchedule>(options, place);
  const { until } = options;
  const preview = await api.get<PreviewAnswer>(options, queried(`${place}/preview`, { until }));
  const nameOf = await namesOf(options);
  print({ schedule, ...preview }, options, () => scheduleText(schedule, preview, nameOf));
}

function scheduleText(
  { name, timezone, layers, covers }: StoredSchedule,
  { shifts, gaps }: PreviewAnswer,
  nameOf: (id: string) => string,
): string {
  // Shown beside the terminal's zone where the two differ: the layers change by the schedule's own.
  const isElsewhere = timezone !== localZone();
  const own = (seconds: number) => wallTime(seconds, timezone);
  const cells = (from: number, until: number, ...who: [who: string, by: string]) => [
    when(from),
    when(until),
    ...who,
    ...(isElsewhere ? [`${own(from)} to ${own(until)}`] : []),
  ];
  const layerRow = ({ name, participants, shift_minutes }: Layer) => [
    name,
    participants.map((one) => (one === null ? "nobody" : nameOf(one))).join(", "),
    `${shift_minutes / 60} h each`,
  ];
  const rows = [
    ...shifts.map(({ starts_at, ends_at, email, layer, away }) => ({
      starts_at,
      row: cells(starts_at, ends_at, away ? `${email} (AWAY)` : email, layer ?? "override"),
    })),
    ...gaps.map(({ starts_at, ends_at }) => ({
      starts_at,
      row: cells(starts_at, ends_at, "NOBODY", ""),
    })),
  ].sort((a, b) => a.starts_at - b.starts_at);
  return [
    `${printable(name)}, time zone ${timezone}${covers === "hours" ? "; somebody is on call only in its layers' hours" : ""}`,
    table(["LAYER", "PEOPLE", "SHIFT"], layers.map(layerRow)),
    "",
    table(
      ["FROM", "UNTIL", "ON CALL", "BY", ...(isElsewhere ? [`BY THE CLOCK OF ${timezone}`] : [])],
      rows.map(({ row }) => row),
    ),
  ].join("\n");
}

async function set(project: string, file: string, options: ApiOptions): Promise<void> {
  const body = await asSent(await readNamed(file, "a schedule"), options);
  const { schedules } = await api.get<{ schedules: { name: string }[] }>(
    options,
    schedulePath(project),
  );
  const exists = schedules.some(({ name }) => name === body.name);
  const answer = exists
    ? await api.put<object>(options, schedulePath(project, body.name), body)
    : await api.post<object>(options, schedulePath(project), body);
  print(answer, options, () => `${exists ? "replaced" : "created"} schedule ${body.name}`);
}

/**
 * The schedule as the API takes it: people by id, a time in Unix seconds, read on the clocks of the
 * schedule's own zone. What isn't as it should be goes there as it is, to be refused by its own words.
 */
async function asSent(
  file: { name: string; timezone?: unknown; layers?: unknown },
  options: ApiOptions,
): Promise<{ name: string }> {
  if (!Array.isArray(file.layers)) return file;
  const idOf = await accountIds(options);
  const zone = typeof file.timezone === "string" ? file.timezone : "UTC";
  const layerOf = (layer: Partial<Record<string, unknown>>) => ({
    ...layer,
    ...(Array.isArray(layer["participants"])
      ? {
          participants: layer["participants"].map((who) =>
            typeof who === "string" ? idOf(who) : who,
          ),
        }
      : {}),
    ...(typeof layer["rotation_start"] === "string"
      ? { rotation_start: parseTime("rotation_start", layer["rotation_start"], zone) }
      : {}),
  });
  return { ...file, layers: file.layers.map(layerOf) } as { name: string };
}
