import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import { inOtherZone } from "../team/lanes.ts";
import type { GivenRotation } from "../team/rotation.ts";
import { theirShifts } from "../team/schedules.ts";
import type { OnCallFiles } from "./files.ts";
import { readShift, renderedOverrides } from "./shifts.ts";

const ASK =
  "also fetch /api/v1/schedules/ID/final_shifts/?start_date=…&end_date=…, into a file named after the schedule's id.";

/** The names of the box's schedules that it becomes; [] where it can't be one. */
export function takeOnCallSchedule(draft: TeamDraft, given: Given, files: OnCallFiles): string[] {
  const name = given.text("name") || given.text("id");
  const what = `schedule ${name}`;
  const zone = draft.zoneOf(given, given.text("time_zone") || "UTC", what);
  if (zone === null) return [];
  const theirs = finalsOf(draft, given, { what, files });
  const base = { id: given.text("id"), what, name, zone, apart: true, ask: ASK };
  const rendered = (why: string) => {
    if (theirs === null) draft.impossible(what, `${why}: ${ASK}`);
    else
      draft.nearly(
        what,
        `${why}: its shifts that are known, until ${new Date(theirs.until * 1000).toISOString().slice(0, 10)}, are overrides.`,
      );
    const overrides = renderedOverrides(theirs?.shifts ?? []);
    return draft.schedule({ ...base, rotations: [], overrides, together: false, theirs });
  };
  if (given.text("type") === "ical")
    return rendered(
      `It comes from a calendar (${given.text("ical_url_primary")}), and has no layers`,
    );
  if (given.text("ical_url_overrides") !== "")
    draft.nearly(
      what,
      `Overrides of its calendar ${given.text("ical_url_overrides")} aren't in the files.`,
    );
  const ids = given.texts("shifts");
  const shifts = files.shifts.filter(
    (shift) => ids.includes(shift.text("id")) || shift.text("schedule") === given.text("id"),
  );
  const missing = ids.filter((id) => !shifts.some((shift) => shift.text("id") === id));
  if (missing.length > 0)
    draft.impossible(what, `Its shifts ${missing.join(", ")} aren't in the files.`);
  const read = shifts.map((shift) => readShift(draft, shift, { what, zone }));
  if (read.some(({ isOdd }) => isOdd)) return rendered("It has shifts that turn by months");
  const rotations = oneZone(
    draft,
    read.flatMap(({ rotation }) => rotation ?? []),
    { what, zone },
  );
  const overrides = read.flatMap(({ override }) => override);
  return draft.schedule({ ...base, rotations, overrides, together: true, theirs });
}

/** Levels that hide each other must be in one zone. Other zones' clock changes are lost. */
function oneZone(
  draft: TeamDraft,
  rotations: readonly GivenRotation[],
  { what, zone }: { what: string; zone: string },
): GivenRotation[] {
  const levels = new Set(rotations.map(({ level }) => level)).size;
  if (levels < 2) return [...rotations];
  return rotations.map((rotation) => {
    if (rotation.zone === zone) return rotation;
    draft.nearly(
      what,
      `Its shift ${rotation.name} is by the clocks of ${rotation.zone}; here by those of ${zone}, as far from each other as they are now.`,
    );
    const ahead =
      draft.zone(zone).offsetAt(draft.now) - draft.zone(rotation.zone).offsetAt(draft.now);
    return inOtherZone(rotation, zone, ahead / 60);
  });
}

function finalsOf(
  draft: TeamDraft,
  given: Given,
  { what, files }: { what: string; files: OnCallFiles },
) {
  const id = given.text("id");
  const shifts = files.finals
    .filter(({ of }) => of.includes(id) || files.schedules.length === 1)
    .flatMap(({ given: one }) => {
      const [from, until] = [one.instant("shift_start"), one.instant("shift_end")];
      const email = one.text("user_email");
      const called = one.text("user_username") || email;
      const person = draft.people.find({ id: one.text("user_pk"), email, called }, what);
      return from === null || until === null || person === null ? [] : [{ person, from, until }];
    });
  return theirShifts(shifts);
}
