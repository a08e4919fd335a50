import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { calendarDays } from "../../../src/core/oncall/busy-days.ts";
import { box as here } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { sentBy } from "../../support/sent-by.ts";

const at = (text: string): number => Date.parse(text) / 1000;

const ICAL = `BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART;VALUE=DATE:20251225
DTEND;VALUE=DATE:20251227
RRULE:FREQ=YEARLY
TRANSP:TRANSPARENT
SUMMARY:Christmas
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20260101
STATUS:CANCELLED
SUMMARY:not this year
END:VEVENT
BEGIN:VEVENT
DTSTART:20260105T090000Z
SUMMARY:a meeting
END:VEVENT
END:VCALENDAR
`;

test("a file's days are its whole days, busy or not, each year anew", () => {
  const days = calendarDays(ICAL, { from: at("2025-01-01"), until: at("2027-12-26") });
  const shown = days?.map(
    ({ day, name }) => `${new Date(day * 86_400_000).toISOString().slice(0, 10)} ${name}`,
  );
  assert.deepEqual(shown, [
    "2025-12-25 Christmas",
    "2025-12-26 Christmas",
    "2026-12-25 Christmas",
    "2026-12-26 Christmas",
    "2027-12-25 Christmas",
  ]);
  assert.equal(calendarDays("hello", { from: 0, until: 1 }), null);
});

test("on a holiday somebody else is on call, is paged, and no gap is shown; what names it can't be taken away", async (t) => {
  const { box, receiver, ann, bob, rule, fire, told } = await pagedStory(t);
  await reachBy(box, ann, receiver, "/ann");
  await reachBy(box, bob, receiver, "/bob");
  const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
  const file = join(box.data, "days.txt");
  writeFileSync(file, "# closed\n2026-01-05 Inventory\n\n2026-01-06, Epiphany\n");
  assert.match(
    (await here(["holidays", "set", "closed", file], { env })).out,
    /^closed has 2 days$/m,
  );
  writeFileSync(file, "tomorrow\n");
  const wrong = await here(["holidays", "set", "closed", file], { env });
  assert.deepEqual([wrong.code, /line 1 has no date/.test(wrong.err)], [2, true]);
  writeFileSync(file, ICAL);
  assert.match(
    (await here(["holidays", "set", "austria", file], { env })).out,
    /^austria has 12 days$/m,
  );

  const layer = (name: string, account: string, holidays?: object) => ({
    name,
    participants: [account],
    rotation_start: at("2026-01-01"),
    shift_minutes: 1440,
    restriction: holidays ? { start_minute: 0, end_minute: 1440, days: [], holidays } : null,
  });
  const schedule = (mode: string, calendar = "closed") => ({
    name: "first",
    timezone: "Europe/Vienna",
    covers: "hours",
    layers: [
      layer("days", ann.accountId, { calendar, mode: "out" }),
      layer("holidays", bob.accountId, { calendar, mode }),
    ],
  });
  const base = "/v1/projects/shop/oncall/schedules";
  const unknown = await box.api("POST", base, schedule("only", "none"));
  assert.deepEqual(
    [unknown.status, unknown.body.error.details[0].field],
    [422, "/layers/0/restriction/holidays/calendar"],
  );
  assert.equal((await box.api("POST", base, schedule("sometimes"))).status, 400);
  assert.equal((await box.api("POST", base, schedule("only"))).status, 201);
  const preview = async () =>
    (
      await box.api(
        "GET",
        `${base}/first/preview?from=${at("2026-01-04")}&until=${at("2026-01-08")}`,
      )
    ).body;
  const shifts = (body: { shifts: { email: string; starts_at: number }[] }) =>
    body.shifts.map(({ email, starts_at }) => [
      email.slice(0, 3),
      new Date(starts_at * 1000).toISOString().slice(0, 13),
    ]);
  assert.deepEqual(shifts(await preview()), [
    ["ann", "2026-01-04T00"],
    ["bob", "2026-01-04T23"],
    ["ann", "2026-01-06T23"],
  ]);
  assert.deepEqual((await preview()).gaps, []);
  assert.equal(
    (await box.api("GET", `${base}/first/current`)).body.email,
    "bob@example.org",
    "it is 5 January",
  );
  await rule([{ after_minutes: 0, accounts: [], schedules: ["first"] }]);
  told();
  await fire(1);
  assert.deepEqual(told(), ["/bob page 1"]);

  assert.equal(
    (await box.api("PUT", "/v1/holidays/closed", { dates: ["2026-01-06"] })).status,
    200,
  );
  assert.deepEqual(shifts(await preview()), [
    ["ann", "2026-01-04T00"],
    ["bob", "2026-01-05T23"],
    ["ann", "2026-01-06T23"],
  ]);
  await fire(2);
  assert.deepEqual(told(), ["/ann page 2"]);

  const used = await box.api("DELETE", "/v1/holidays/closed");
  assert.deepEqual(
    [used.status, used.body.error.code, used.body.error.details[0].value],
    [409, "holidays_in_use", "shop/first"],
  );
  assert.equal(
    (
      await box.api("PUT", "/v1/holidays/closed", { dates: ["2026-02-30"] })
    ).body.error.details[0].field.startsWith("/dates/0"),
    true,
  );
  assert.equal(
    (await box.api("PUT", "/v1/holidays/closed", { dates: [], ical: ICAL })).status,
    400,
  );
  assert.equal((await box.api("PUT", "/v1/holidays/closed", { dates: [] }, ann.key)).status, 403);
  assert.equal((await box.api("DELETE", "/v1/holidays/austria")).status, 200);
  assert.equal((await box.api("GET", "/v1/holidays/austria")).status, 404);

  const tab = signedIn(box);
  const page = (await tab.get("/oncall/shop/first/layers")).text;
  assert.match(page, /<option value="out:closed" selected>not on closed/);
  assert.match(page, /<option value="only:closed" selected>only on closed/);
  assert.match(page, /name="l0-when" value="always" checked/);
  const at0 = "/oncall/shop/first/layers";
  const sent = sentBy(page);
  sent.set("l0-holidays", "");
  const shown = await tab.post(at0, [...sent], { from: at0 });
  assert.equal(shown.status, 303);
  const stored = (await box.api("GET", `${base}/first`)).body;
  assert.deepEqual(
    stored.layers.map(({ restriction }: { restriction: unknown }) => restriction),
    [
      null,
      {
        days: [],
        start_minute: 0,
        end_minute: 1440,
        holidays: { calendar: "closed", mode: "only" },
      },
    ],
  );
});
