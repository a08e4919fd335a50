import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Person, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";

/** Calendars that programs follow by a secret address. */

const DAY = 86_400;

async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("ops");
  await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const now = Math.floor(box.clock.now() / 1000);
  const schedule = async (project: string, name: string, people: Person[]) => {
    const participants = people.map(({ accountId }) => accountId);
    const layer = { name: "days", participants, rotation_start: now - DAY, shift_minutes: 1440 };
    const path = `/v1/projects/${project}/oncall/schedules`;
    const made = await box.api("POST", path, { name, timezone: "UTC", layers: [layer] });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  await schedule("ops", "primary", [ann, bob]);
  await schedule("shop", "nights", [bob]);
  const make = async (body: object, key = ann.key) => {
    const { status, body: made } = await box.api("POST", "/v1/accounts/me/calendars", body, key);
    assert.equal(status, 201, JSON.stringify(made));
    return { id: made.id as string, path: made.calendar_url as string };
  };
  const get = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const answer = await fetch(box.url + path, { method, headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return { box, ann, bob, now, make, get };
}

const summaries = (text: string) =>
  new Set([...text.replaceAll("\r\n ", "").matchAll(/^SUMMARY:(.*)\r$/gm)].map(([, one]) => one));

test("one's own shifts of every project, or all of a schedule, without a key; the same until something changes", async (t) => {
  const { box, ann, bob, make, get, now } = await story(t);
  const own = await make({});
  assert.match(own.path, /^\/calendar\/[0-9A-Za-z]{22}\.ics$/);
  const first = await get(own.path);
  assert.equal(first.status, 200);
  assert.equal(first.headers.get("content-type"), "text/calendar; charset=utf-8");
  assert.deepEqual([...summaries(first.text)], ["ann@example.org on call (ops/primary)"]);
  const bobs = await get((await make({}, bob.key)).path);
  assert.deepEqual([...summaries(bobs.text)].toSorted(), [
    "bob@example.org on call (ops/primary)",
    "bob@example.org on call (shop/nights)",
  ]);
  const whole = await get((await make({ schedule: "ops/primary" })).path);
  assert.equal(summaries(whole.text).size, 2);

  const etag = first.headers.get("etag") ?? "";
  await box.clock.turn(60_000);
  const again = await get(own.path, { "if-none-match": `"x", ${etag}` });
  assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag]);
  const head = await get(own.path, {}, "HEAD");
  assert.deepEqual([head.status, head.text], [200, ""]);
  const cover = { account_id: ann.accountId, starts_at: now + 2 * DAY, ends_at: now + 5 * DAY };
  const overrides = "/v1/projects/shop/oncall/schedules/nights/overrides";
  assert.equal((await box.api("POST", overrides, cover)).status, 201);
  const changed = await get(own.path, { "if-none-match": etag });
  assert.equal(changed.status, 200);
  assert.ok(summaries(changed.text).has("ann@example.org on call (shop/nights)"));
  const unknown = await box.api("POST", "/v1/accounts/me/calendars", { schedule: "ops/none" });
  assert.deepEqual([unknown.status, unknown.body.error.code], [422, "unknown_schedule"]);
});

test("an address dies when it is replaced or revoked, and with its person or schedule; all that opens nothing is one answer", async (t) => {
  const { box, ann, make, get } = await story(t);
  const old = await make({});
  const own = await make({});
  assert.equal(own.id, old.id, "one for each person and calendar");
  const gone = async (path: string) => {
    const { status, text } = await get(path);
    const { request_id: _, ...error } = JSON.parse(text).error;
    return [status, error];
  };
  const stranger = await gone(`/calendar/${"a".repeat(22)}.ics`);
  assert.equal(stranger[0], 404);
  assert.deepEqual(await gone(old.path), stranger);
  assert.equal((await get(own.path)).status, 200);
  const place = `/v1/accounts/${ann.accountId}/calendars`;
  const other = box.person("member", "cy@example.org");
  assert.equal((await box.api("GET", place, undefined, other.key)).status, 403);
  assert.equal((await box.api("DELETE", `${place}/${own.id}`, undefined, other.key)).status, 403);
  assert.equal((await box.api("DELETE", `${place}/${own.id}`)).status, 200);
  assert.deepEqual(await gone(own.path), stranger);
  const audit = (await box.api("GET", "/v1/audit?limit=3")).body.entries;
  assert.deepEqual(
    audit.map((one: { verb: string }) => one.verb),
    ["revokeCalendar", "makeCalendar", "makeCalendar"],
  );

  const kept = await make({ schedule: "shop/nights" });
  const cys = await make({}, other.key);
  assert.equal((await box.api("DELETE", "/v1/projects/shop/oncall/schedules/nights")).status, 200);
  assert.equal((await box.api("DELETE", `/v1/accounts/${other.accountId}`)).status, 200);
  assert.deepEqual([await gone(kept.path), await gone(cys.path)], [stranger, stranger]);
});

test("reads of one calendar and tries of wrong ones are limited, each for itself", async (t) => {
  const { make, get } = await story(t);
  const { path } = await make({});
  const statuses = async (path: string) => {
    const seen: number[] = [];
    for (let i = 0; i < 11; i++) seen.push((await get(path)).status);
    return [seen.slice(0, 10), seen[10]];
  };
  assert.deepEqual(await statuses("/calendar/x.ics"), [Array(10).fill(404), 429]);
  assert.deepEqual(await statuses(path), [Array(10).fill(200), 429]);
});

test("the command line makes, lists and revokes them", async (t) => {
  const { box, ann, get } = await story(t);
  const cli = (...words: string[]) =>
    run(["oncall", ...words], { env: { BOX_URL: box.url, BOX_KEY: ann.key } });
  const made = await cli("calendar", "add", "ops/primary");
  assert.equal(made.code, 0, made.err);
  const url = made.out.trim();
  assert.equal((await get(url.slice(box.url.length))).status, 200, url);
  await cli("calendar", "add");
  const list = await cli("calendar", "list");
  assert.match(list.out, /own shifts/);
  const [, id = ""] = /^(\w+) +ops\/primary/m.exec(list.out) ?? [];
  assert.equal((await cli("calendar", "revoke", id)).code, 0);
  assert.equal((await get(url.slice(box.url.length))).status, 404);
  assert.match((await cli("ops")).out, /primary/, "the command beside it goes on");
});
