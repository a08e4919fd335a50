import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeLadder } from "../../../src/core/alerts/ladder.ts";
import { readSchedule } from "../../../src/core/oncall/roster.ts";
import { isTimezone, Zone } from "../../../src/core/oncall/zone.ts";
import { differencesBetween, shiftsOf } from "../../../src/records/import/team/compare.ts";
import { ladderOf } from "../../../src/records/import/team/ladder.ts";
import { lanesOf, type SeatLane } from "../../../src/records/import/team/lanes.ts";
import {
  begunBy,
  type GivenRotation,
  toldFrom,
  turnAt,
} from "../../../src/records/import/team/rotation.ts";
import {
  areApart,
  dailyWindow,
  joinedWindows,
  movedWindow,
  weeklyWindow,
} from "../../../src/records/import/team/windows.ts";
import { zoneOf } from "../../../src/records/import/team/zones.ts";
import fc from "../../support/property.ts";

const MONDAY = Date.UTC(2026, 0, 5) / 1000;

test("windows of a week are split where they pass a day, and those of the same times are one", () => {
  assert.deepEqual(dailyWindow(1320, 600), { days: [], start_minute: 1320, end_minute: 480 });
  assert.equal(dailyWindow(540, 1440), null);
  const rows: [day: number, start: number, minutes: number, expected: unknown][] = [
    [5, 1020, 420, [{ days: [5], start_minute: 1020, end_minute: 1440 }]],
    [5, 1020, 600, [{ days: [5], start_minute: 1020, end_minute: 180 }]],
    [
      6,
      0,
      2880,
      [
        { days: [6], start_minute: 0, end_minute: 1440 },
        { days: [0], start_minute: 0, end_minute: 1440 },
      ],
    ],
    [
      5,
      1020,
      3840,
      [
        { days: [5], start_minute: 1020, end_minute: 1440 },
        { days: [6, 0], start_minute: 0, end_minute: 1440 },
        { days: [1], start_minute: 0, end_minute: 540 },
      ],
    ],
    [0, 0, 10_080, null],
  ];
  for (const [day, start, minutes, expected] of rows)
    assert.deepEqual(weeklyWindow(day, start, minutes), expected);
  const weekdays = [1, 2, 3, 4, 5].flatMap((day) => weeklyWindow(day, 540, 480) ?? []);
  assert.deepEqual(joinedWindows(weekdays), [
    { days: [1, 2, 3, 4, 5], start_minute: 540, end_minute: 1020 },
  ]);
  const day = { days: [], start_minute: 480, end_minute: 1080 };
  const night = { days: [], start_minute: 1080, end_minute: 480 };
  assert.deepEqual(
    [areApart([day], [night]), areApart([day], [day]), areApart([day], [])],
    [true, false, false],
  );
  assert.deepEqual(movedWindow({ days: [1], start_minute: 60, end_minute: 120 }, -120), {
    days: [0],
    start_minute: 1380,
    end_minute: 1440,
  });
});

const base: GivenRotation = {
  name: "r",
  id: "r",
  zone: "Europe/Berlin",
  level: 0,
  windows: [],
  turns: [["a"], ["b"], ["c"]],
  start: MONDAY + 8 * 3600,
  shiftMinutes: 10_080,
};

test("a rotation that is told from another turn has the same turns at the same times, across clock changes", () => {
  const zone = new Zone("Europe/Berlin");
  const summer = MONDAY + 30 * 7 * 86_400;
  assert.equal(
    turnAt(base, zone, summer + 7 * 3600),
    30,
    "nine o'clock is an hour earlier in summer",
  );
  assert.equal(turnAt(base, zone, summer + 7 * 3600 - 1), 29);
  const later = toldFrom(base, zone, 31);
  assert.deepEqual(later.turns, [["b"], ["c"], ["a"]]);
  assert.equal(later.start, summer + 7 * 86_400 + 7 * 3600);
  const before = begunBy(base, zone, MONDAY - 20 * 7 * 86_400);
  assert.deepEqual(before.turns, [["a"], ["b"], ["c"]], "21 turns earlier");
  assert.equal(begunBy(base, zone, MONDAY + 9 * 3600), base);
});

/** Whom the lanes have on call together. */
function onCall(lanes: readonly SeatLane[], at: number): string[] {
  const read = lanes.flatMap(
    ({ zone, layers }) =>
      readSchedule({ timezone: zone, layers, overrides: [], holidays: new Map() })(at).accounts,
  );
  return [...new Set(read)].sort();
}

test("lanes have together on call exactly whom the rotations of the highest level have", () => {
  const window = fc.record({
    days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
    start_minute: fc.constantFrom(0, 480, 540, 1080),
    end_minute: fc.constantFrom(0, 480, 1020, 1440),
  });
  const rotation = fc.record({
    name: fc.constantFrom("x", "y"),
    id: fc.constant("i"),
    zone: fc.constant("UTC"),
    level: fc.integer({ min: 0, max: 2 }),
    turns: fc.array(
      fc.option(
        fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 3 }),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    start: fc.constantFrom(MONDAY, MONDAY + 3600),
    shiftMinutes: fc.constantFrom(60, 720, 1440, 10_080),
    windows: fc.array(window, { maxLength: 2 }),
  });
  const naive = (rotations: readonly GivenRotation[], at: number) => {
    const on = rotations.map((one) => {
      const lanes = one.turns.map((_t, i) => ({
        ...one,
        level: 0,
        turns: one.turns.map((turn) => turn && [turn[i % turn.length] ?? ""]),
      }));
      return {
        level: one.level,
        people: onCall(
          lanes
            .slice(0, Math.max(...one.turns.map((t) => t?.length ?? 0)))
            .flatMap((l) => lanesOf([l], { apart: false })),
          at,
        ),
      };
    });
    const highest = Math.max(
      ...on.filter(({ people }) => people.length > 0).map(({ level }) => level),
    );
    return [
      ...new Set(on.filter(({ level }) => level === highest).flatMap(({ people }) => people)),
    ].sort();
  };
  fc.assert(
    fc.property(
      fc.array(rotation, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 21 * 48 }),
      (rotations, apart, half) => {
        const at = MONDAY + 3600 + half * 1800;
        // More at once than turns is the naive reading's own bound.
        const few = rotations.filter(
          ({ turns }) => Math.max(...turns.map((turn) => turn?.length ?? 0)) <= turns.length,
        );
        assert.deepEqual(
          onCall(lanesOf(few, { apart }), at),
          few.length === 0 ? [] : naive(few, at),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("rotations that never meet share a schedule; a turn of whoever isn't imported goes to the next, one of nobody stays", () => {
  const day = {
    ...base,
    name: "day",
    windows: [{ days: [], start_minute: 480, end_minute: 1080 }],
  };
  const night = {
    ...base,
    name: "night",
    windows: [{ days: [], start_minute: 1080, end_minute: 480 }],
  };
  assert.equal(lanesOf([day, night], { apart: true }).length, 1);
  assert.equal(lanesOf([day, night], { apart: false }).length, 2);
  const [lane] = lanesOf([{ ...base, turns: [["a"], [], ["c"], []] }], { apart: true });
  assert.deepEqual(lane?.layers[0]?.participants, ["a", "c", "c", "a"]);
  assert.deepEqual(lanesOf([{ ...base, turns: [[], []] }], { apart: true }), []);
  assert.deepEqual(lanesOf([{ ...base, turns: [null, []] }], { apart: true }), []);
  const two = lanesOf([{ ...base, turns: [["a", "b"], null, [], ["c"]] }], { apart: true });
  assert.deepEqual(
    two.map(({ layers }) => layers[0]?.participants),
    [
      ["a", null, "c", "c"],
      ["b", null, "c", "c"],
    ],
  );
  const zones = lanesOf([base, { ...base, zone: "Asia/Tokyo" }], { apart: true });
  assert.deepEqual(
    zones.map(({ zone }) => zone),
    ["Europe/Berlin", "Asia/Tokyo"],
  );
});

test("a policy's passes are a ladder's, or several in one of its passes where nine are too few", () => {
  const said: string[] = [];
  const steps = [
    { after: 0, people: ["a"], schedules: ["s"] },
    { after: 15, people: ["b"], schedules: [] },
    { after: 15, people: ["c", "b"], schedules: [] },
  ];
  const ladder = (passes: number, every = 30) =>
    ladderOf(steps, { passes, every }, (how) => said.push(how));
  const rows: [passes: number, every: number, steps: number, whole?: number, pause?: number][] = [
    [1, 30, 2],
    [4, 0, 2],
    [3, 30, 2, 3, 15],
    [9, 30, 2, 9, 15],
    [10, 30, 4, 5, 15],
    [21, 30, 6, 7, 15],
  ];
  for (const [passes, every, count, whole, pause] of rows) {
    const made = ladder(passes, every);
    const is = [made.steps.length, made.passes, made.pass_after_minutes];
    assert.deepEqual(is, [count, whole, pause], `${passes} passes`);
  }
  assert.equal(said.length, 0);
  assert.equal(ladder(6, 15).pass_after_minutes, 1);
  assert.match(said.splice(0).join(), /begins again 0 minutes after its last step; here 1 minutes/);
  assert.deepEqual(
    [ladder(60).passes, said.length],
    [9, 1],
    "twelve times nine would do, in 24 steps",
  );
  const long = Array.from({ length: 13 }, (_, i) => ({
    after: i * 5,
    people: [`p${i}`],
    schedules: [],
  }));
  said.length = 0;
  const fitted = ladderOf(long, { passes: 1, every: 65 }, (how) => said.push(how)).steps;
  assert.deepEqual(
    [fitted.length, fitted.at(-1)?.accounts, fitted.at(-1)?.after_minutes],
    [10, ["p9", "p10", "p11", "p12"], 45],
  );
  assert.equal(said.length, 1);
});

test("over its passes a ladder pages whom the policy pages, when it does", () => {
  const step = fc.record({
    wait: fc.integer({ min: 1, max: 30 }),
    people: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 2 }),
  });
  const policy = fc.array(step, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(policy, fc.integer({ min: 1, max: 27 }), (waits, passes) => {
      let every = 0;
      const steps = waits.map(({ wait, people }) => {
        every += wait;
        return { after: every - wait, people, schedules: [] };
      });
      const said = [] as string[];
      const { steps: escalations, ...more } = ladderOf(steps, { passes, every }, (how) =>
        said.push(how),
      );
      const full = escalations.map((one) => ({ ...one, repeat_minutes: 0 }));
      const paged = wholeLadder({ escalations: full, ...more })
        .filter(({ isEnd }) => isEnd !== true)
        .map((one) => [one.after_minutes, one.accounts]);
      const theirs = Array.from({ length: passes }, (_, pass) =>
        steps.map((one) => [pass * every + one.after, one.people]),
      ).flat();
      assert.deepEqual(paged.slice(0, theirs.length), theirs);
      assert.equal(said.length, 0);
    }),
    { numRuns: 200 },
  );
});

test("differences are told from edge to edge, and neighbours of the same are one", () => {
  const layer = {
    name: "l",
    participants: ["a", "b"],
    rotation_start: MONDAY,
    shift_minutes: 1440,
    restriction: null,
  };
  const ours = shiftsOf(
    [{ timezone: "UTC", layers: [layer], overrides: [], holidays: new Map() }],
    {
      from: MONDAY,
      until: MONDAY + 4 * 86_400,
    },
  );
  const day = (n: number, person: string) => ({
    person,
    from: MONDAY + n * 86_400,
    until: MONDAY + (n + 1) * 86_400,
  });
  const range = { from: MONDAY, until: MONDAY + 4 * 86_400 };
  const same = [day(0, "a"), day(1, "b"), day(2, "a"), day(3, "b")];
  assert.deepEqual(differencesBetween(same, ours, range), []);
  const other = [
    day(0, "a"),
    day(0, "c"),
    day(2, "a"),
    { ...day(3, "b"), from: MONDAY + 3.5 * 86_400 },
  ];
  assert.deepEqual(differencesBetween(other, ours, range), [
    { from: MONDAY, until: MONDAY + 86_400, theirs: ["a", "c"], ours: ["a"] },
    { from: MONDAY + 86_400, until: MONDAY + 2 * 86_400, theirs: [], ours: ["b"] },
    { from: MONDAY + 3 * 86_400, until: MONDAY + 3.5 * 86_400, theirs: [], ours: ["b"] },
  ]);
});

test("Rails' names of zones are known, all of them lead to one, and no other is", () => {
  assert.equal(zoneOf("Eastern Time (US & Canada)"), "America/New_York");
  assert.equal(zoneOf("Bern"), "Europe/Zurich");
  assert.equal(zoneOf("Europe/Vienna"), "Europe/Vienna");
  assert.deepEqual([zoneOf("Middle Earth"), zoneOf("+02:00"), zoneOf("")], [null, null, null]);
  for (const name of ["Kyiv", "Greenland", "Nuku'alofa", "Samoa", "Rangoon"])
    assert.ok(isTimezone(zoneOf(name) ?? ""), name);
});
