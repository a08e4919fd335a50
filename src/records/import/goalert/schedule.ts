import { shiftsOf } from "../team/compare.ts";
import type { TeamDraft } from "../team/draft.ts";
import { type Given, minuteOfDay } from "../team/given.ts";
import { lanesOf } from "../team/lanes.ts";
import { begunBy, type GivenRotation, turnAt } from "../team/rotation.ts";
import { ADDED, type GivenOverride, theirShifts } from "../team/schedules.ts";
import type { WeekWindow } from "../team/windows.ts";
import { zoneOf } from "../team/zones.ts";

/** The objects of an answer, by kind. */
export type GoAlertNodes = (kind: string) => readonly Given[];

const LENGTHS: Readonly<Record<string, number>> = { hourly: 60, daily: 1440, weekly: 10_080 };

/** A rotation without windows; null where it can't be one, which the report says under `what`. */
function rotationOf(draft: TeamDraft, given: Given, what: string): GivenRotation | null {
  const name = given.text("name") || given.text("id");
  const length = LENGTHS[given.text("type")];
  const start = given.instant("start");
  const zone = zoneOf(given.text("timeZone"));
  if (length === undefined || start === null || zone === null) {
    draft.impossible(
      what,
      `The rotation ${name} turns by ${given.text("type")} in ${given.text("timeZone") || "no zone"}, which a layer can't: it is left out.`,
    );
    return null;
  }
  const turns = given.texts("userIDs").map((id) => {
    const email = draft.people.find({ id }, `rotation ${name}`);
    return email === null ? [] : [email];
  });
  const shiftMinutes = length * Math.max(1, given.number("shiftLength") ?? 1);
  const rotation = {
    name,
    turns,
    start,
    zone,
    shiftMinutes,
    windows: [],
    level: 0,
    id: given.text("id"),
  };
  const active = given.number("activeUserIndex") ?? 0;
  if (turns.length === 0 || active < 0) return rotation;
  // GoAlert stores whose turn it is. The turns are rotated so that the calculation here gives the same person now.
  const now = turnAt(rotation, draft.zone(zone), draft.now);
  const turned = turns.map(
    (_turn, i) => turns[(((i - now + active) % turns.length) + turns.length) % turns.length] ?? [],
  );
  return begunBy({ ...rotation, turns: turned }, draft.zone(zone), draft.now);
}

/** A rotation that an escalation policy names directly. */
export function takeAlone(draft: TeamDraft, given: Given): string[] {
  const name = given.text("name");
  const what = `rotation ${name}`;
  const rotation = rotationOf(draft, given, what);
  return draft.schedule({
    what,
    id: given.text("id"),
    name,
    zone: rotation?.zone ?? "UTC",
    apart: true,
    overrides: [],
    together: false,
    theirs: null,
    ask: "only schedules have shifts of their own.",
    rotations: rotation === null ? [] : [rotation],
  });
}

interface Around {
  rotations: ReadonlyMap<string, Given>;
  nodes: GoAlertNodes;
}

/** The names of the box's schedules that it becomes; [] where it can't be one. */
export function takeGoAlertSchedule(
  draft: TeamDraft,
  given: Given,
  { rotations, nodes }: Around,
): string[] {
  const name = given.text("name") || given.text("id");
  const what = `schedule ${name}`;
  const zone = draft.zoneOf(given, given.text("timeZone"), what);
  if (zone === null) return [];
  const made = given
    .objects("targets", "targets of schedules")
    .flatMap((one) => targetOf(draft, one, { what, zone, rotations }));
  const id = given.text("id");
  const overrides = nodes("userOverrides")
    .filter(
      (one) =>
        one.text("scheduleID") === id ||
        one.object("target", "targets of overrides")?.text("id") === id,
    )
    .flatMap((one) => overrideOf(draft, one, { what, rotations: made }));
  const shifts = given.objects("shifts", "shifts").flatMap((one) => shiftOf(draft, one, what));
  return draft.schedule({
    what,
    id: given.text("id"),
    name,
    zone,
    apart: true,
    rotations: made,
    together: true,
    overrides: [...overrides, ...temporary(draft, given, what)],
    theirs: theirShifts(shifts),
    ask: "ask for its shifts in the query.",
  });
}

/** A person or a rotation that is on call in some hours of a schedule. */
function targetOf(
  draft: TeamDraft,
  given: Given,
  { what, zone, rotations }: { what: string; zone: string; rotations: ReadonlyMap<string, Given> },
): GivenRotation[] {
  const target = given.object("target", "targets");
  const [id, called, type] = [
    target?.text("id") ?? "",
    target?.text("name") ?? "",
    target?.text("type") ?? "",
  ];
  const windows = windowsOf(draft, given.objects("rules", "rules of targets"), { what, called });
  if (windows === null) return [];
  if (type === "user") {
    const email = draft.people.find({ id, called }, what);
    if (email === null) return [];
    const begun = { start: Math.floor(draft.now / 86_400) * 86_400, shiftMinutes: 1440 };
    return [{ name: called || email, id, zone, level: 0, turns: [[email]], windows, ...begun }];
  }
  const found = rotations.get(id);
  if (found === undefined) {
    draft.impossible(
      what,
      `It names the ${type || "rotation"} ${called || id}, which isn't in the files.`,
    );
    return [];
  }
  const rotation = rotationOf(draft, found, what);
  if (rotation === null) return [];
  if (windows.length === 0) return [rotation];
  if (rotation.zone !== zone)
    draft.nearly(
      what,
      `The rotation ${rotation.name} hands over by the clocks of ${rotation.zone}; in this schedule by those of ${zone}.`,
    );
  return [{ ...rotation, zone, windows }];
}

/** []: always; null: never. A rule whose start and end are equal lasts a whole day. */
function windowsOf(
  draft: TeamDraft,
  rules: readonly Given[],
  { what, called }: { what: string; called: string },
): WeekWindow[] | null {
  const windows: WeekWindow[] = [];
  for (const rule of rules) {
    const [start, end] = [minuteOfDay(rule.text("start")), minuteOfDay(rule.text("end"))];
    if (start === null || end === null) {
      draft.impossible(
        what,
        `A rule for ${called} has no times that can be read, and is left out.`,
      );
      continue;
    }
    const filter = rule.list("weekdayFilter");
    const days = [0, 1, 2, 3, 4, 5, 6].filter((day) => filter.length === 0 || filter[day] === true);
    if (days.length === 0) continue;
    if (start === end && days.length === 7) return [];
    windows.push({
      days: days.length === 7 ? [] : days,
      start_minute: start,
      end_minute: start === 0 && end === 0 ? 1440 : end,
    });
  }
  if (windows.length > 0) return windows;
  draft.impossible(what, `${called || "A target"} has no hours in it, and is left out.`);
  return null;
}

function shiftOf(draft: TeamDraft, given: Given, what: string) {
  const [from, until] = [given.instant("start"), given.instant("end")];
  const id = given.text("userID") || given.object("user", "users of shifts")?.text("id") || "";
  const person = draft.people.find({ id }, what);
  return from === null || until === null || person === null ? [] : [{ person, from, until }];
}

/** Shifts that replace everybody for a time. */
function temporary(draft: TeamDraft, given: Given, what: string): GivenOverride[] {
  return given.objects("temporarySchedules", "temporary schedules").flatMap((one) => {
    const [begin, end] = [one.instant("start") ?? 0, one.instant("end") ?? 0];
    if (end <= draft.now) return [];
    const shifts = one.objects("shifts", "shifts").flatMap((shift) => shiftOf(draft, shift, what));
    let at = Math.max(begin, draft.now);
    for (const { from, until } of shifts.toSorted((a, b) => a.from - b.from)) {
      if (from > at)
        draft.nearly(
          what,
          "A temporary schedule has hours without anybody; here the usual people are on call then.",
        );
      at = Math.max(at, until);
    }
    return shifts.map((shift) => ({ ...shift, rotations: null }));
  });
}

/** A person in place of another, or in addition. Removing a person without a replacement isn't possible. */
function overrideOf(
  draft: TeamDraft,
  given: Given,
  { what, rotations }: { what: string; rotations: readonly GivenRotation[] },
): GivenOverride[] {
  const [from, until] = [given.instant("start"), given.instant("end")];
  if (from === null || until === null || until <= draft.now) return [];
  const userOf = (key: string) =>
    given.text(`${key}UserID`) ||
    given.object(`${key}User`, "users of overrides")?.text("id") ||
    "";
  const [added, removed] = [userOf("add"), userOf("remove")];
  const person = added === "" ? null : draft.people.find({ id: added }, what);
  if (removed === "") return person === null ? [] : [{ person, from, until, rotations: [ADDED] }];
  const gone = draft.people.find({ id: removed }, what);
  if (gone === null) return [];
  if (person === null) {
    draft.impossible(
      what,
      `${gone} is removed from it from ${given.text("start")} to ${given.text("end")}, without a replacement: they stay on call here.`,
    );
    return [];
  }
  const range = { from: Math.max(from, draft.now), until };
  return rotations.flatMap((rotation) =>
    shiftsOf(
      lanesOf([rotation], { apart: true }).map(({ zone, layers }) => ({
        timezone: zone,
        layers,
        holidays: new Map(),
        overrides: [],
      })),
      range,
    )
      .filter((shift) => shift.person === gone)
      .map((shift) => ({ person, from: shift.from, until: shift.until, rotations: [rotation.id] })),
  );
}
