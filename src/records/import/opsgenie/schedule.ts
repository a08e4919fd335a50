import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { GivenRotation, GivenTurn } from "../team/rotation.ts";
import type { GivenOverride } from "../team/schedules.ts";
import { dailyWindow, type WeekWindow, weeklyWindow } from "../team/windows.ts";
import type { OpsgenieNames } from "./names.ts";

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const LENGTHS: Readonly<Record<string, number>> = { hourly: 60, daily: 1440, weekly: 10_080 };
const ASK =
  "also fetch /v2/schedules/ID/timeline?interval=3&intervalUnit=months, into another file.";

/** The names of the box's schedules that it becomes; [] where it can't be one. */
export function takeOpsgenieSchedule(
  draft: TeamDraft,
  given: Given,
  named: OpsgenieNames,
): string[] {
  const name = given.text("name") || given.text("id");
  const what = `schedule ${name}`;
  const zone = draft.zoneOf(given, given.text("timezone"), what);
  if (zone === null) return [];
  if (!given.has("rotations")) {
    draft.impossible(
      what,
      "The file has it without its rotations: fetch /v2/schedules?expand=rotation.",
    );
    return [];
  }
  if (given.raw("enabled") === false)
    draft.nearly(what, "It is turned off there, but has somebody on call here.");
  const id = given.text("id");
  const overrides = overridesOf(draft, { what, id, named });
  return draft.schedule({
    what,
    id,
    name,
    zone,
    ask: ASK,
    together: false,
    overrides,
    // An override of one rotation must not apply in another's hours.
    apart: overrides.every(({ rotations }) => rotations === null),
    rotations: given
      .objects("rotations", "rotations")
      .flatMap((one, i) => rotationOf(draft, one, { what, zone, i, named })),
    theirs: timelineOf(draft, { what, id, named }),
  });
}

interface At {
  what: string;
  zone: string;
  i: number;
  named: OpsgenieNames;
}

function rotationOf(draft: TeamDraft, given: Given, { what, zone, i, named }: At): GivenRotation[] {
  const name = given.text("name") || `rotation ${i + 1}`;
  const end = given.instant("endDate");
  if (end !== null && end <= draft.now) {
    draft.ended(what, given, { called: `rotation ${name}`, at: given.text("endDate") });
    return [];
  }
  if (end !== null)
    draft.nearly(
      what,
      `Its rotation ${name} ends at ${given.text("endDate")}, and layers have no end here: remove it by then.`,
    );
  const start = given.instant("startDate");
  const length = LENGTHS[given.text("type")];
  if (start === null || length === undefined) {
    given.leave();
    draft.impossible(
      what,
      `Its rotation ${name} has no start that can be read, or turns by something other than hours, days and weeks, and is left out.`,
    );
    return [];
  }
  return [
    {
      name,
      start,
      zone,
      level: 0,
      id: given.text("id") || name,
      shiftMinutes: length * Math.max(1, given.number("length") ?? 1),
      turns: given
        .objects("participants", "participants")
        .flatMap((one) => turnsOf(draft, one, { what, name, named })),
      windows: windowsOf(draft, given.object("timeRestriction", "time restrictions"), {
        what,
        name,
      }),
    },
  ];
}

/** The turns of one participant. Each member of a team gets a turn. */
function turnsOf(
  draft: TeamDraft,
  given: Given,
  { what, name, named }: { what: string; name: string; named: OpsgenieNames },
): GivenTurn[] {
  const type = given.text("type");
  const [id, called] = [given.text("id"), given.text("name")];
  if (type === "none" || type === "noone") return [null];
  if (type === "team") {
    const members = named.members(id, called);
    draft.nearly(
      what,
      `In its rotation ${name} the team ${called || id} has a turn; here each of its ${members.length} members has one, in order.`,
    );
    return members.length === 0 ? [[]] : members.map(({ email }) => [email]);
  }
  if (type === "escalation") {
    const first = named.firstOf(id, called);
    draft.nearly(
      what,
      `In its rotation ${name} the escalation ${called || id} has a turn; here ${first === null ? "nobody" : `its first user, ${first},`} has it.`,
    );
    return [first === null ? [] : [first]];
  }
  const email = draft.people.find({ id, email: given.text("username"), called }, what);
  return [email === null ? [] : [email]];
}

function windowsOf(
  draft: TeamDraft,
  given: Given | null,
  { what, name }: { what: string; name: string },
): WeekWindow[] {
  if (given === null) return [];
  const type = given.text("type");
  const one = given.object("restriction", "restrictions");
  const all = [...(one === null ? [] : [one]), ...given.objects("restrictions", "restrictions")];
  const windows: WeekWindow[] = [];
  for (const restriction of all) {
    const minute = (edge: string) => {
      const given =
        (restriction.number(`${edge}Hour`) ?? 0) * 60 + (restriction.number(`${edge}Min`) ?? 0);
      return Math.min(1440, Math.max(0, Math.round(given)));
    };
    const [start, end] = [minute("start"), minute("end")];
    const day = (edge: string) => DAYS.indexOf(restriction.text(`${edge}Day`).toLowerCase());
    const [from, to] = [day("start"), day("end")];
    if (type === "weekday-and-time-of-day" && (from < 0 || to < 0)) {
      draft.impossible(
        what,
        `A restriction of its rotation ${name} can't be read: without it the rotation applies for longer.`,
      );
      continue;
    }
    const made =
      type === "weekday-and-time-of-day"
        ? weeklyWindow(from, start, between(from * 1440 + start, to * 1440 + end, 10_080))
        : dailyWindow(start, between(start, end, 1440));
    if (made === null) return [];
    windows.push(...(Array.isArray(made) ? made : [made]));
  }
  return windows;
}

/** Minutes from one time to the other, across the end of day or week. Equal times are the whole length. */
const between = (from: number, to: number, all: number) => ((to - from + all - 1) % all) + 1;

function overridesOf(
  draft: TeamDraft,
  { what, id, named }: { what: string; id: string; named: OpsgenieNames },
): GivenOverride[] {
  return named.overridesOf(id).flatMap((given) => {
    const [from, until] = [given.instant("startDate"), given.instant("endDate")];
    if (from === null || until === null || until <= draft.now) {
      given.leave();
      return [];
    }
    const user = given.object("user", "users of overrides");
    const found = { id: user?.text("id") ?? "", email: user?.text("username") ?? "" };
    const person = draft.people.find({ ...found, called: found.email }, what);
    const rotations = given
      .objects("rotations", "rotations of overrides")
      .map((one) => one.text("id") || one.text("name"));
    return person === null
      ? []
      : [{ person, from, until, rotations: rotations.length === 0 ? null : rotations }];
  });
}

function timelineOf(
  draft: TeamDraft,
  { what, id, named }: { what: string; id: string; named: OpsgenieNames },
) {
  const given = named.timelineOf(id);
  const [from, until] = [given?.instant("startDate") ?? null, given?.instant("endDate") ?? null];
  const final = given?.object("finalTimeline", "final timelines") ?? null;
  if (from === null || until === null || final === null) return null;
  const periods = final
    .objects("rotations", "rotations of timelines")
    .flatMap((one) => one.objects("periods", "periods"));
  const shifts = periods.flatMap((period) => {
    const [start, end] = [period.instant("startDate"), period.instant("endDate")];
    const recipient = period.object("recipient", "recipients");
    if (start === null || end === null || recipient === null) return [];
    const type = recipient.text("type");
    if (type !== "user" && type !== "") return [];
    const called = recipient.text("name");
    const person = draft.people.find({ id: recipient.text("id"), email: called, called }, what);
    return person === null ? [] : [{ person, from: start, until: end }];
  });
  return { shifts, from, until };
}
