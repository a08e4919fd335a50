import type { TeamDraft } from "../team/draft.ts";
import { type Given, minuteOfDay } from "../team/given.ts";
import { begunBy, type GivenRotation, handover, toldFrom, turnAt } from "../team/rotation.ts";
import { type GivenOverride, theirShifts } from "../team/schedules.ts";
import { dailyWindow, type WeekWindow, weeklyWindow } from "../team/windows.ts";

const ASK = "fetch it with ?since= and ?until= so that its answer has final_schedule.";

/** The names of the box's schedules that it becomes; [] where it can't be one. */
export function takeSchedule(
  draft: TeamDraft,
  given: Given,
  overrides: readonly Given[],
): string[] {
  const name = given.text("name") || given.text("summary") || given.text("id");
  const what = `schedule ${name}`;
  const zone = draft.zoneOf(given, given.text("time_zone"), what);
  if (zone === null) return [];
  if (given.has("rotations")) {
    given.leave();
    draft.impossible(
      what,
      "It is a newer, shift-based schedule without layers: set it up by hand.",
    );
    return [];
  }
  if (!given.has("schedule_layers")) {
    draft.impossible(
      what,
      `Only the list of schedules has it, without its layers: also fetch /schedules/${given.text("id")}.`,
    );
    return [];
  }
  // In PagerDuty the first layer wins, here the last.
  const layers = given.objects("schedule_layers", "schedule layers").toReversed();
  const final = given.object("final_schedule", "final schedules");
  return draft.schedule({
    what,
    id: given.text("id"),
    name,
    zone,
    ask: ASK,
    apart: false,
    together: false,
    rotations: layers.flatMap((layer, level) => rotationOf(draft, layer, { what, zone, level })),
    overrides: overridesOf(draft, { what, given, overrides }),
    theirs: final === null ? null : rendered(draft, final, what),
  });
}

function userOf(draft: TeamDraft, holder: Given, where: string): string | null {
  const user = holder.object("user", "users of schedules");
  if (user === null) return null;
  const called = user.text("summary") || user.text("name");
  return draft.people.find({ id: user.text("id"), email: user.text("email"), called }, where);
}

function rotationOf(
  draft: TeamDraft,
  layer: Given,
  { what, zone, level }: { what: string; zone: string; level: number },
): GivenRotation[] {
  const name = layer.text("name") || `layer ${level + 1}`;
  const end = layer.instant("end");
  if (end !== null && end <= draft.now) {
    draft.ended(what, layer, { called: `layer ${name}`, at: layer.text("end") });
    return [];
  }
  if (end !== null)
    draft.nearly(
      what,
      `Its layer ${name} ends at ${layer.text("end")}, and layers have no end here: remove it by then.`,
    );
  const start = layer.instant("start");
  const virtual = layer.instant("rotation_virtual_start") ?? start;
  const seconds = layer.number("rotation_turn_length_seconds") ?? 0;
  if (virtual === null || seconds < 60) {
    layer.leave();
    draft.impossible(
      what,
      `Its layer ${name} has no start or no length of a turn that can be read, and is left out.`,
    );
    return [];
  }
  if (seconds % 60 !== 0)
    draft.nearly(what, `The turns of its layer ${name} have whole minutes here.`);
  const turns = layer.objects("users", "users of layers").map((user) => {
    const email = userOf(draft, user, what);
    return email === null ? [] : [email];
  });
  const rotation: GivenRotation = {
    name,
    turns,
    start: virtual,
    level,
    zone,
    id: layer.text("id"),
    shiftMinutes: Math.round(seconds / 60),
    windows: windowsOf(draft, layer, { what, name }),
  };
  return [beginning(draft, rotation, { what, from: start ?? virtual })];
}

/** Nobody is on call before `from`, even where turns are counted from an earlier time. */
function beginning(
  draft: TeamDraft,
  rotation: GivenRotation,
  { what, from }: { what: string; from: number },
): GivenRotation {
  const zone = draft.zone(rotation.zone);
  if (rotation.turns.length === 0) return rotation;
  if (from <= draft.now) return begunBy(rotation, zone, draft.now);
  const turn = turnAt(rotation, zone, from);
  if (handover(rotation, zone, turn) !== from)
    draft.nearly(
      what,
      `Its layer ${rotation.name} begins in the middle of a turn; here it begins with that turn.`,
    );
  return toldFrom(rotation, zone, turn);
}

function windowsOf(
  draft: TeamDraft,
  layer: Given,
  { what, name }: { what: string; name: string },
): WeekWindow[] {
  const windows: WeekWindow[] = [];
  for (const given of layer.objects("restrictions", "restrictions")) {
    const type = given.text("type");
    const start = minuteOfDay(given.text("start_time_of_day"));
    const seconds = given.number("duration_seconds") ?? 0;
    const weekday = given.number("start_day_of_week");
    const day = [1, 2, 3, 4, 5, 6, 7].find((one) => one === weekday) ?? null;
    if (start === null || seconds <= 0 || (type !== "daily_restriction" && day === null)) {
      draft.impossible(
        what,
        `A restriction of its layer ${name} can't be read: without it the layer applies for longer.`,
      );
      continue;
    }
    const minutes = Math.round(seconds / 60);
    // PagerDuty: Monday is 1, Sunday 7. Here Sunday is 0.
    const made =
      type === "daily_restriction"
        ? dailyWindow(start, minutes)
        : weeklyWindow((day ?? 0) % 7, start, minutes);
    if (made === null) return [];
    windows.push(...(Array.isArray(made) ? made : [made]));
  }
  return windows;
}

function overridesOf(
  draft: TeamDraft,
  { what, given, overrides }: { what: string; given: Given; overrides: readonly Given[] },
): GivenOverride[] {
  const shown = given.object("overrides_subschedule", "override subschedules");
  const rendered = shown?.objects("rendered_schedule_entries", "rendered entries") ?? [];
  const seen = new Set<string>();
  return [...overrides, ...rendered].flatMap((one) => {
    const [from, until] = [one.instant("start"), one.instant("end")];
    if (from === null || until === null || until <= draft.now) {
      one.leave();
      return [];
    }
    const person = userOf(draft, one, what);
    const key = `${person} ${from} ${until}`;
    if (person === null || seen.has(key)) return [];
    seen.add(key);
    return [{ person, from, until, rotations: null }];
  });
}

function rendered(draft: TeamDraft, final: Given, what: string) {
  const shifts = final.objects("rendered_schedule_entries", "rendered entries").flatMap((one) => {
    const [from, until] = [one.instant("start"), one.instant("end")];
    const person = userOf(draft, one, what);
    return from === null || until === null || person === null ? [] : [{ person, from, until }];
  });
  return theirShifts(shifts);
}
