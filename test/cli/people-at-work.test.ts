import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { boxAnswer, box as run } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

let served: TestBox;
before(async () => {
  served = await testBox({}, handClock(Date.now()));
  served.person("member", "ann@example.org");
  await served.project("shop");
});
after(() => served.stop());

const env = () => ({ BOX_URL: served.url, BOX_KEY: served.owner.key, TZ: "Europe/Berlin" });
const box = (words: string[], input = "") => run(words, { env: env(), input });
const json = (words: string[], input = "") => boxAnswer(words, { env: env(), input });

async function said(words: string[], input = ""): Promise<string> {
  const { code, out, err } = await box(words, input);
  assert.equal(code, 0, err);
  return out;
}

const weekly = (people: string[], start = "2026-01-05 09:00") =>
  JSON.stringify({
    name: "primary",
    timezone: "Europe/Berlin",
    layers: [
      { name: "weekly", participants: people, rotation_start: start, shift_minutes: 10_080 },
    ],
  });

test("a schedule is written with emails and local times, shown on the terminal's clock, replaced and deleted", async () => {
  const set = ["schedule", "set", "shop", "-"];
  assert.equal(await said(set, weekly(["me", "Ann@example.org"])), "created schedule primary\n");
  const stored = (await served.api("GET", "/v1/projects/shop/oncall/schedules/primary")).body;
  assert.equal(stored.layers[0].rotation_start, Date.UTC(2026, 0, 5, 8) / 1000);
  assert.equal(stored.layers[0].participants[0], served.owner.accountId);
  assert.match(
    await said(["schedule", "list", "shop"]),
    /\nprimary +Europe\/Berlin +1 +owner@example\.org, ann@example\.org\n$/,
  );
  const shown = await said(["schedule", "show", "shop", "primary", "--until", "+7d"]);
  assert.match(
    shown,
    /^primary, time zone Europe\/Berlin\nLAYER +PEOPLE +SHIFT\nweekly +owner@example\.org, ann@example\.org +168 h each\n/,
  );
  assert.match(
    shown,
    /\n\d{4}-\d\d-\d\d \d\d:\d\d\S+ +\d{4}-\d\d-\d\d 09:00\+0[12]:00 +(ann|owner)@example\.org +weekly\n/,
  );

  assert.equal(await said(set, weekly(["email:Ann@example.org"])), "replaced schedule primary\n");
  const stranger = await box(set, weekly(["anne@example.org"]));
  assert.match(
    stranger.err,
    /^box: there is no account "anne@example\.org"; there is ann@example\.org, owner@/,
  );
  const never = await box(set, weekly(["me"], "soon"));
  assert.deepEqual(
    [never.code, /^box: rotation_start must be a time like .*not "soon"/.test(never.err)],
    [2, true],
  );
  await said(set, '{"name": "spare", "timezone": "UTC", "layers": []}');
  assert.match(await said(["schedule", "show", "shop", "spare"]), /NOBODY/);
  assert.equal(await said(["schedule", "delete", "shop", "spare"]), "deleted spare\n");
});

test("an override is given by an email and local times", async () => {
  const add = ["override", "add", "shop", "primary", "ann@example.org"];
  const times = ["--from", "2030-07-01 18:00", "--until", "2030-07-02T02:00 America/New_York"];
  const made = await json([...add, ...times]);
  assert.deepEqual(
    [made.starts_at, made.ends_at],
    [Date.UTC(2030, 6, 1, 16) / 1000, Date.UTC(2030, 6, 2, 6) / 1000],
  );
  const now = await json([...add, "--for", "8h"]);
  assert.ok(Math.abs(now.ends_at - Date.now() / 1000 - 8 * 3600) < 60);
  const { oncall } = await json(["oncall", "shop"]);
  assert.deepEqual([oncall[0].email, oncall[0].override_id], ["ann@example.org", now.id]);
  const list = await said(["override", "list", "shop", "primary"]);
  assert.match(
    list,
    new RegExp(
      `\n${made.id} +ann@example.org +2030-07-01 18:00\\+02:00 +2030-07-02 08:00\\+02:00 +owner@`,
    ),
  );
  await said(["override", "delete", "shop", "primary", made.id]);
  for (const words of [
    [],
    ["--for", "8h", "--until", "18:00"],
    ["--for", "8"],
    ["--until", "never"],
  ])
    assert.equal((await box([...add, ...words])).code, 2, words.join(" "));
});

test("an invitation makes a seat on another machine", async (t) => {
  const invited = await said(["invite", "bob@example.org", "--role", "admin", "--for", "2d"]);
  assert.match(invited, /\nrole +admin\nfor +bob@example\.org\n/);
  const words = /On their machine: box (.*)\n$/.exec(invited)?.[1]?.split(" ") ?? [];
  const login = await run([...words, "--password-file", "-"], {
    env: { HOME: scratch(t) },
    input: "a long password",
  });
  assert.match(login.out, /^bob@example\.org \(admin\) at http/, login.err);
  assert.equal((await box(["invite", "x@example.org", "--for", "1y"])).code, 2);
});

test("devices are listed, added, and removed by the beginning of their token", async () => {
  const [one, two] = ["ab".repeat(32), `ac${"d".repeat(62)}`];
  assert.equal(await said(["device", "list"]), "no devices\n");
  await said(["device", "add", one, "--platform", "ios", "--critical-alerts"]);
  await said(["device", "add", two, "--platform", "ios"]);
  assert.match(await said(["device", "list"]), /\nabababababab… +ios +yes +20/);
  const both = await box(["device", "remove", "a"]);
  assert.match(both.err, /^box: more than one device of yours begins with "a"/);
  assert.match(
    (await box(["device", "remove", "ff"])).err,
    /no device of yours begins with "ff"; there is ab/,
  );
  assert.equal(await said(["device", "remove", "AB"]), "removed abababababab…\n");
  assert.equal((await json(["device", "list"])).devices.length, 1);
});

test("a relay is set with its secret from a file, shown, and removed", async () => {
  assert.equal(await said(["relay", "show"]), "there is no relay: no phone is paged\n");
  const url = "http://127.0.0.1:9/v1/relay/rk_0123456789abcdef";
  const set = ["relay", "set", url, "--secret-file", "-"];
  assert.equal(await said(set, `${"s".repeat(32)}\n`), `every project pages through ${url}\n`);
  assert.equal(await said(["relay", "show"]), `pages go through ${url}\n`);
  const short = await box(set, "short");
  assert.match(short.err, /^box: \/relay_secret must have at least 32 characters\n$/);
  assert.match(await said(["relay", "remove"]), /^removed; 0 pages/);
  assert.equal((await box(["relay", "set", url])).code, 2);
});

test("any route can be called, and what isn't JSON is refused here", async () => {
  assert.match(await said(["api", "get", "/v1/me"]), /"email":"owner@example\.org"/);
  assert.match(
    await said(["api", "POST", "/v1/projects", '{"name": "raw"}']),
    /^\{"name":"raw",.*\}\n$/,
  );
  assert.match(await said(["api", "POST", "/v1/projects", "-"], '{"name": "raw2"}'), /raw2/);
  for (const words of [
    ["FETCH", "/v1/me"],
    ["GET", "v1/me"],
    ["POST", "/v1/projects", "{"],
  ])
    assert.equal((await box(["api", ...words])).code, 2, words.join(" "));
});
