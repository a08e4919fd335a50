import assert from "node:assert/strict";
import { preview } from "../../../src/core/oncall/rotation.ts";
import type { Layer, Schedule } from "../../../src/core/oncall/schedule.ts";
import { asSets, assertSameRoster, day, PEOPLE, paintPreview } from "./against-naive.ts";
import { naiveRoster, type WallClock, watchClock } from "./naive.ts";

const FROM = day("2026-01-05");
const RESTRICTIONS: Layer["restriction"][] = [
  null,
  { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1020 },
  { days: [5, 6, 0], start_minute: 1320, end_minute: 360 },
];

/** A layer from 09:00 local on the first whole day watched. */
function fromNine(
  clock: WallClock,
  shift_minutes: number,
  restriction: Layer["restriction"],
): Layer {
  const nine = Math.ceil(clock.base / 1440) * 1440 + 540;
  const rotation_start = clock.from + (clock.first[nine - clock.base] ?? 0) * 60;
  return { name: "layer", participants: PEOPLE, rotation_start, shift_minutes, restriction };
}

/** Every minute of so many years has its one answer in a zone, and 09:00 stays 09:00. */
export function holdsEachMinute(zone: string, years: number): void {
  const clock = watchClock(zone, FROM, years * 365 * 1440);
  for (const shift_minutes of [480, 1440, 7 * 1440]) {
    for (const restriction of RESTRICTIONS) {
      const layer = fromNine(clock, shift_minutes, restriction);
      const schedule = { timezone: zone, layers: [layer], overrides: [], holidays: new Map() };
      const roster = paintPreview(schedule, clock.from, clock.minutes);
      assertSameRoster(roster, asSets(naiveRoster(schedule, clock, PEOPLE)), clock.from);
      if (restriction === null) assertContinuous(schedule, clock, layer);
    }
  }
}

/** Without a restriction: no gap after the start, and whole days turn at 09:00 on the wall. */
function assertContinuous(schedule: Schedule, clock: WallClock, layer: Layer): void {
  const until = clock.from + clock.minutes * 60;
  const { shifts, gaps } = preview(schedule, layer.rotation_start, until);
  assert.deepEqual(gaps, []);
  assert.ok(shifts.length >= 50);
  for (const [i, { account_id, starts_at }] of shifts.entries()) {
    assert.equal(account_id, PEOPLE[i % PEOPLE.length], "nobody is skipped");
    assert.equal(starts_at, i === 0 ? layer.rotation_start : shifts[i - 1]?.ends_at);
    if (layer.shift_minutes % 1440 !== 0) continue;
    const shown = clock.civil[(starts_at - clock.from) / 60] ?? 0;
    assert.equal(shown % 1440, 540, `09:00 at hand-over ${i}`);
  }
}
