import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { examine } from "../../src/app/operate/doctor.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { createEgress } from "../../src/ground/kit/egress.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type Person, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { reachBy, toldIn } from "../support/contacts.ts";
import { answer, pem, startReceiver } from "../support/receiver.ts";
import { busy, pass, settle } from "../support/until.ts";

/** People who are away: what is marked, who is told, and that they stay on call. */

const DAY = 86_400;
const AWAY = "/v1/accounts/me/away";
const PRIMARY = "/v1/projects/shop/oncall/schedules/primary";

/** Weeks turn between Ann, who has this one, and Bob. */
async function story(t: TestContext) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const calendar = await startReceiver({ tls: "good" });
  t.after(() => calendar.close());
  const clock = handClock();
  const egress = () =>
    createEgress({ clock: systemClock, rules: { role: "box" }, ca: [pem("authority")] });
  const box = await testBox({ publicUrl: "https://box.test" }, clock, silentLog, { egress });
  t.after(() => box.stop());
  const token = await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const now = Math.floor(box.clock.now() / 1000);
  const participants = [ann.accountId, bob.accountId];
  const layer = { name: "weekly", participants, rotation_start: now - DAY, shift_minutes: 10_080 };
  const body = { name: "primary", timezone: "Europe/Berlin", layers: [layer] };
  assert.equal((await box.api("POST", PRIMARY.replace("/primary", ""), body)).status, 201);
  await reachBy(box, ann, receiver, "/ann");
  const notes = () =>
    receiver.received
      .map((one) => ({ path: one.path, ...toldIn(one) }))
      .filter(({ purpose }) => purpose === "note");
  const put = (spans: object[], more: object = {}, key = ann.key) =>
    box.api("PUT", AWAY, { spans, ...more }, key);
  return { box, receiver, calendar, token, ann, bob, now, notes, put };
}

test("a shift is marked wherever it is shown, doctor names it, its person is asked once, and is paged all the same", async (t) => {
  const { box, receiver, token, ann, bob, now, notes, put } = await story(t);
  assert.deepEqual((await box.api("GET", AWAY, undefined, ann.key)).body.spans, []);
  const trip = { from: now + 3000, until: now + 4 * DAY, note: "skiing" };
  const set = await put([trip]);
  assert.deepEqual([set.status, set.body.spans], [200, [trip]]);
  await busy(box, () => notes().length === 1, "Ann is asked");
  const [asked] = notes();
  assert.match(asked?.title ?? "", /You are away, and on call/);
  assert.match(String(asked?.lines), /shop \/ primary: .* Europe\/Berlin/);
  for (const path of [`${PRIMARY}/preview`, "/v1/oncall/grid"]) {
    const { body } = await box.api("GET", path);
    const shifts = (path.endsWith("grid") ? body.schedules[0] : body).shifts;
    assert.deepEqual(
      shifts.map(({ email, away }: { email: string; away?: true }) => [email, away]).slice(0, 2),
      [
        ["ann@example.org", true],
        ["bob@example.org", undefined],
      ],
      path,
    );
  }
  const doctor = () =>
    examine({ data: box.data, clock: box.clock, random: systemRandom }).then((all) =>
      all.filter(({ check }) => check === "away").map(({ detail }) => detail),
    );
  assert.match(String(await doctor()), /ann@example\.org is away, and on call in shop \/ primary/);
  const env = { BOX_URL: box.url, BOX_KEY: ann.key };
  assert.match((await run(["schedule", "show", "shop", "primary"], { env })).out, /ann.*AWAY/);
  const tab = signedIn(box, ann);
  assert.match((await tab.get("/oncall")).text, /ann@example\.org \(away\)/);
  assert.match((await tab.get("/me")).text, /skiing/);
  // Nobody is taken off by it.
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "r",
    escalations: [{ schedules: ["primary"] }],
  });
  await pass(box, 3600, 3600);
  await box.ingest(token, { message: "down", level: 500 });
  await settle(box);
  assert.ok(receiver.received.some((one) => toldIn(one).purpose === "page"));
  await box.restart();
  await put([trip, { from: trip.from, until: trip.until + 5, note: "again" }]);
  await pass(box, 7 * 3600, 3600);
  assert.equal(notes().length, 1, "asked once");
  // Bob's shift begins later: that is another one, of another person who has no contact.
  await put([{ from: now, until: now + 20 * DAY, note: "" }], {}, bob.key);
  await pass(box, 120, 60);
  assert.equal(notes().length, 1);
  assert.match(String(await doctor()), /bob@example\.org is away/);
});

test("one's own and a manager's; what is wrong is named; by command and by page", async (t) => {
  const { box, ann, bob, now, put } = await story(t);
  const trip = { from: now + DAY, until: now + 2 * DAY, note: "" };
  const of = (person: Person) => `/v1/accounts/${person.accountId}/away`;
  assert.equal((await box.api("PUT", of(ann), { spans: [trip] }, bob.key)).status, 403);
  assert.equal((await box.api("GET", of(ann), undefined, bob.key)).status, 403);
  assert.equal((await box.api("PUT", of(ann), { spans: [trip] })).status, 200);
  const cases: [object, number, string][] = [
    [{ spans: [{ ...trip, until: trip.from }] }, 400, "/spans/0/until"],
    [{ spans: Array.from({ length: 101 }, () => trip) }, 400, "/spans"],
    [{ spans: [{ ...trip, from: trip.from * 1000 }] }, 400, "/spans/0/from"],
    [{ spans: [], ical: "http://calendar.example/a.ics" }, 400, "/ical"],
    [{ spans: [], ical: "nonsense" }, 400, "/ical"],
    [{ spans: [], ical: "https://169.254.169.254/a.ics" }, 403, "/ical"],
    [{ ical: null }, 400, "/spans"],
  ];
  for (const [body, status, field] of cases) {
    const refused = await box.api("PUT", AWAY, body, ann.key);
    assert.deepEqual([refused.status, refused.body.error?.details[0].field], [status, field]);
  }
  assert.deepEqual((await box.api("GET", AWAY, undefined, ann.key)).body.spans, [trip]);
  const whole = (await put([trip])).body;
  assert.equal((await box.api("PUT", AWAY, whole, ann.key)).status, 200, "what is read can be put");

  const env = { BOX_URL: box.url, BOX_KEY: ann.key };
  const added = await run(["away", "add", "--for", "3d", "--note", "a trip"], { env });
  assert.match(added.out, /a trip$/m);
  const number = /^(\d) .*a trip$/m.exec(added.out)?.[1] ?? "";
  assert.doesNotMatch((await run(["away", "remove", number], { env })).out, /a trip/);
  const tab = signedIn(box, ann);
  const form: [string, string][] = [
    ["from", "2030-01-05T09:00"],
    ["until", "2030-01-07T09:00"],
    ["note", "by page"],
  ];
  assert.equal((await tab.post("/me/away/add", form, { from: "/me" })).status, 303);
  const page = (await tab.get("/me")).text;
  const at = /name="from" value="(18\d+)"/.exec(page)?.[1] ?? "";
  assert.match(page, /by page/);
  const gone: [string, string][] = [
    ["from", at],
    ["until", String(Number(at) + 2 * DAY)],
  ];
  assert.equal((await tab.post("/me/away/remove", gone, { from: "/me" })).status, 303);
  assert.doesNotMatch((await tab.get("/me")).text, /by page/);
});

test("a calendar is read each hour; what can't be read is named and changes nothing; its address is shown to nobody", async (t) => {
  const { box, calendar, ann, now, notes } = await story(t);
  const day = (at: number) => new Date(at * 1000).toISOString().slice(0, 10).replaceAll("-", "");
  const text = (at: number) =>
    `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:${day(at)}\r\nSUMMARY:Off\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
  calendar.always(answer(200, text(now + 2 * DAY)));
  const url = `https://localhost:${calendar.port}/canary-secret.ics`;
  const set = await box.api("PUT", AWAY, { spans: [], ical: url }, ann.key);
  assert.equal(set.body.ical, `localhost:${calendar.port}/….ics`);
  const read = async () => (await box.api("GET", AWAY, undefined, ann.key)).body;
  await busy(box, () => notes().length === 1, "Ann is asked");
  const first = await read();
  assert.deepEqual(
    [first.ical_spans.length, first.ical_spans[0].note, first.ical_error],
    [1, "Off", null],
  );
  const asked = calendar.received.length;
  await pass(box, 3000, 600);
  assert.equal(calendar.received.length, asked);
  calendar.always(answer(500));
  await pass(box, 700, 100);
  await busy(box, () => calendar.received.length > asked, "it is read again");
  await settle(box);
  const failed = await read();
  assert.deepEqual([failed.ical_error, failed.ical_spans], ["status 500", first.ical_spans]);
  calendar.always(answer(200, text(now + 3 * DAY).padEnd(1024 * 1024 + 1)));
  const again = calendar.received.length;
  await pass(box, 3700, 3700);
  await busy(box, () => calendar.received.length > again, "it is read again");
  await pass(box, 1);
  assert.match((await read()).ical_error, /longer than 1 MiB/);
  // As it is shown: it stays. null: it goes, and what it said.
  const kept = await box.api("PUT", AWAY, { spans: [], ical: first.ical }, ann.key);
  assert.deepEqual(kept.body.ical_spans, first.ical_spans);
  const rows = JSON.stringify(box.tenant.store.sql("SELECT * FROM audit").all());
  assert.doesNotMatch(rows + JSON.stringify(kept.body), /canary-secret/);
  const none = await box.api("PUT", AWAY, { spans: [], ical: null }, ann.key);
  assert.deepEqual([none.body.ical, none.body.ical_spans], [null, []]);
});
