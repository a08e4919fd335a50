import assert from "node:assert/strict";
import fc from "fast-check";
import { examine } from "../../../src/app/operate/doctor.ts";
import { Zone } from "../../../src/core/oncall/zone.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { digestTimes, weeksToTell } from "../../../src/records/numbers/digest.ts";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { box as here } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { reachBy, toldIn } from "../../support/contacts.ts";
import { long, test } from "../../support/long.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { pass, settle, until } from "../../support/until.ts";

const at = (text: string): number => Date.parse(text) / 1000;

test("it is due at an hour of a weekday on the tenant's clock, whatever its clock does", () => {
  const times = (zone: string, weekday: number, hour: number, now: string) => {
    const { latest, next } = digestTimes(new Zone(zone), { weekday, hour }, at(now));
    return [latest, next].map((one) => new Date(one * 1000).toISOString().slice(0, 16));
  };
  assert.deepEqual(times("UTC", 1, 6, "2026-11-23T06:00Z"), [
    "2026-11-23T06:00",
    "2026-11-30T06:00",
  ]);
  assert.deepEqual(times("UTC", 1, 6, "2026-11-23T05:59Z"), [
    "2026-11-16T06:00",
    "2026-11-23T06:00",
  ]);
  assert.deepEqual(times("UTC", 7, 0, "2026-11-23T05:59Z"), [
    "2026-11-22T00:00",
    "2026-11-29T00:00",
  ]);
  assert.deepEqual(
    times("Europe/Vienna", 1, 6, "2026-10-20T12:00Z"),
    ["2026-10-19T04:00", "2026-10-26T05:00"],
    "over the end of summer time",
  );
  // 02:00 isn't there on that Sunday: the clock goes on at 03:00.
  assert.deepEqual(times("Europe/Vienna", 7, 2, "2026-03-29T00:30Z"), [
    "2026-03-22T01:00",
    "2026-03-29T01:00",
  ]);
  fc.assert(
    fc.property(
      fc.constantFrom(
        "UTC",
        "Europe/Vienna",
        "America/Toronto",
        "Pacific/Apia",
        "Australia/Lord_Howe",
      ),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }),
      (zone, weekday, hour, now) => {
        const set = { weekday, hour };
        const { latest, next } = digestTimes(new Zone(zone), set, now);
        assert.ok(latest <= now && now < next);
        assert.ok(Math.abs(next - latest - 7 * 86_400) <= 3600);
        assert.equal(digestTimes(new Zone(zone), set, next).latest, next);
        const { from, last, to } = weeksToTell(new Zone(zone), now);
        assert.ok(from < last && last < to && to <= now && now - to < 8 * 86_400);
      },
    ),
  );
});

async function story(t: import("node:test").TestContext) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const clock = handClock(Date.parse("2026-01-04T20:00Z"));
  const box = await testBox({}, clock);
  t.after(() => box.stop());
  const token = await box.project("shop");
  const room = async (type: string, name: string) => {
    const body =
      type === "webhook"
        ? { type, name, url: `${receiver.url}/${name}` }
        : { type, name, webhook_url: `${receiver.url}/${name}` };
    const { status, body: made } = await box.api("POST", "/v1/projects/shop/integrations", {
      ...body,
      events: ["alert.test"],
    });
    assert.equal(status, 201, JSON.stringify(made));
    return made.id as string;
  };
  const digest = async (method: string, body?: object) =>
    (await box.api(method, "/v1/digest", body)).body;
  /** The box is off until then. */
  const offUntil = (time: string) => box.restart(() => clock.turn(Date.parse(time) - clock.now()));
  return { receiver, clock, box, token, room, digest, offUntil };
}

test("once a week what the week was like goes to a person, and once alone", async (t) => {
  const { receiver, clock, box, token, digest, offUntil } = await story(t);
  const ann = box.person("member", "ann@example.org");
  await reachBy(box, ann, receiver, "/ann");
  const contact = await reachBy(box, box.owner, receiver, "/owner");
  const step = { after_minutes: 0, accounts: [ann.accountId], schedules: [] };
  const rule = {
    name: "errors",
    match: { min_level: 400 },
    identifier_keys: ["n"],
    escalations: [step],
  };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  for (const n of ["1", "2", "3"])
    await box.ingest(token, { message: "disk is full", level: 500, keys: { n } });
  await settle(box);
  await box.api("POST", "/v1/projects/shop/oncall/schedules", {
    name: "primary",
    timezone: "UTC",
    layers: [
      {
        name: "l",
        rotation_start: at("2026-01-05T08:00Z"),
        shift_minutes: 2880,
        participants: [ann.accountId, box.owner.accountId],
      },
    ],
  });
  assert.deepEqual(await digest("GET"), {
    enabled: false,
    to: null,
    weekday: 1,
    hour: 6,
    next: null,
    sent_at: null,
    error: null,
  });
  const set = await digest("PUT", { enabled: true, to: { contact } });
  assert.equal(set.next, at("2026-01-05T06:00Z"));

  await offUntil("2026-01-05T05:59:30Z");
  const notes = () =>
    receiver.received.filter(
      ({ path, body }) => path === "/owner" && toldIn({ body } as never).purpose === "note",
    );
  await pass(box, 20);
  assert.equal(notes().length, 0);
  await pass(box, 15);
  await until(() => notes().length > 0, "the digest");
  const told = toldIn(notes()[0]);
  assert.equal(told.title, "The week from 2025-12-29: 3 alerts, 3 pages");
  assert.ok(told.lines.includes("Pages = 3 (before: 0 a week)"), told.lines.join("\n"));
  assert.ok(told.lines.includes("Most alerts: errors (3, 3 paged)."), told.lines.join("\n"));
  assert.match(
    told.lines.join("\n"),
    /On call for shop \/ primary: ann@example\.org until Wed 08:00, owner@example\.org until Fri 08:00/,
  );
  assert.match(told.lines.join("\n"), /Nobody on call for shop \/ primary: 06:00 to 08:00/);
  await pass(box, 5);
  const { sent_at, next, error } = await digest("GET");
  assert.ok(sent_at >= at("2026-01-05T06:00Z") && sent_at < at("2026-01-05T06:00Z") + 10);
  assert.deepEqual([next, error], [at("2026-01-12T06:00Z"), null]);

  await box.restart();
  await pass(box, 30);
  clock.setWall(Date.parse("2026-01-05T05:30Z"));
  await pass(box, 30);
  assert.equal(notes().length, 1, "neither after a restart nor by a clock that was set back");

  assert.equal((await box.api("PUT", "/v1/digest", { enabled: false }, ann.key)).status, 403);
  assert.equal((await digest("PUT", { enabled: false })).next, null);
  clock.setWall(Date.parse("2026-01-05T07:00Z"));
  await offUntil("2026-01-12T07:00Z");
  await pass(box, 30);
  assert.equal(notes().length, 1, "nothing where it is off");
  const audit = (await box.api("GET", "/v1/audit?limit=50")).body.entries as { verb: string }[];
  assert.equal(audit.filter(({ verb }) => verb === "changeDigest").length, 2);
});

long(
  "a room hears it late where the box was off, again where it was not taken, and what it can't read is refused",
  async (t) => {
    const { receiver, box, room, digest, offUntil } = await story(t);
    const [chat, hook] = [await room("mattermost", "chat"), await room("webhook", "hook")];
    const refused = async (body: object) => (await digest("PUT", body)).error.details[0];
    assert.deepEqual(await refused({ enabled: true }), {
      field: "/to",
      reason: "is needed where the digest is enabled",
    });
    assert.deepEqual(await refused({ enabled: true, to: { integration: hook } }), {
      field: "/to",
      reason: "names a channel that has no words for people",
    });
    assert.equal(
      (await refused({ enabled: true, to: { contact: "none" } })).reason,
      "names no contact",
    );
    const unconfirmed = { kind: "webhook", address: `${receiver.url}/x` };
    const { id } = (await box.api("POST", "/v1/accounts/me/contacts", unconfirmed)).body;
    assert.match((await refused({ enabled: true, to: { contact: id } })).reason, /isn't confirmed/);
    assert.equal(
      (await refused({ enabled: true, to: { integration: chat }, hour: 24 })).field,
      "/hour",
    );
    assert.equal((await box.api("POST", "/v1/digest/send", {})).body.error.code, "digest_off");
    const page = signedIn(box);
    const form = { to: `integration:${chat}`, weekday: "1", hour: "6" };
    assert.equal((await page.post("/numbers/digest", form, { from: "/numbers" })).status, 303);
    assert.match(
      (await page.get("/numbers")).text,
      new RegExp(`<option value="integration:${chat}" selected>shop: chat`),
    );

    const chats = () => receiver.received.filter(({ path }) => path === "/chat");
    receiver.always(answer(503));
    await offUntil("2026-01-05T09:00Z");
    await pass(box, 20);
    await until(() => chats().length === 1, "a first attempt");
    await pass(box, 5);
    assert.match((await digest("GET")).error, /503/);
    receiver.always(answer(200));
    await pass(box, 310, 10);
    await until(() => chats().length === 2, "another attempt");
    await pass(box, 600, 10);
    assert.equal(chats().length, 2);
    assert.match(chats()[1]?.body ?? "", /The week from 2025-12-29: 0 alerts, 0 pages/);
    assert.equal((await digest("GET")).error, null);

    const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
    assert.match((await here(["digest", "send"], { env })).out, /^accepted$/m);
    assert.equal(chats().length, 3);
    const words = ["digest", "set", "--channel", chat, "--weekday", "wed", "--hour", "7"];
    assert.match((await here(words, { env })).out, new RegExp(`^goes to channel ${chat}, next `));
    assert.equal((await digest("GET")).next, at("2026-01-07T07:00Z"));
    // What somebody turned off isn't tried again and again.
    const off = await box.api("POST", `/v1/projects/shop/integrations/${chat}/disable`);
    assert.ok(off.status < 300, JSON.stringify(off.body));
    await offUntil("2026-01-07T07:00:01Z");
    await pass(box, 5);
    const { error: why, next: later } = await digest("GET");
    assert.deepEqual([why, later], ["its channel is off", at("2026-01-14T07:00Z")]);
    await box.api("POST", `/v1/projects/shop/integrations/${chat}/enable`);
    await pass(box, 320, 10);
    assert.equal(chats().length, 3);
    await box.api("DELETE", `/v1/projects/shop/integrations/${chat}`);
    await offUntil("2026-01-14T07:00:01Z");
    await pass(box, 5);
    const { error, next } = await digest("GET");
    assert.deepEqual([error, next], ["its channel is gone", at("2026-01-21T07:00Z")]);
    const found = await examine({ data: box.data, clock: box.clock, random: systemRandom });
    const finding = found.find(({ check }) => check === "weekly message");
    assert.deepEqual(
      [finding?.state, finding?.detail],
      ["wrong", "the latest wasn't taken: its channel is gone"],
    );
    env.BOX_URL = box.url;
    assert.match((await here(["digest", "off"], { env })).out, /is off/);
  },
);
