import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { followPreview } from "../../../src/core/oncall/rotation.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { hoursOf, restrictionOf } from "../../../src/web/console/oncall/hours.ts";
import { gapsWithout } from "../../../src/web/console/oncall/layers-screen.ts";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import fc from "../../support/property.ts";

const restrictions = fc.record({
  days: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 }),
  start: fc.integer({ min: 0, max: 23 }),
  end: fc.integer({ min: 0, max: 24 }),
});

test("a week's boxes say what a restriction says, and back", () => {
  fc.assert(
    fc.property(restrictions, ({ days, start, end }) => {
      const given = { days, start_minute: start * 60, end_minute: end * 60 };
      const hours = hoursOf(given);
      assert.ok(hours);
      const back = restrictionOf(hours, "/x");
      if (back === null) return assert.equal(hours.size, 168);
      assert.deepEqual(hoursOf(back), hours);
      // By the box's own evaluator: the same instants of a fortnight that begins on a Monday.
      const covered = (restriction: typeof given) => {
        const layer = {
          name: "x",
          participants: ["ada"],
          rotation_start: 0,
          shift_minutes: 60,
          restriction,
        };
        const schedule = { timezone: "UTC", layers: [layer], overrides: [], holidays: new Map() };
        return finish(followPreview(schedule, { from: 345_600, until: 345_600 + 14 * 86_400 }))
          .gaps;
      };
      assert.deepEqual(covered(back), covered(given));
    }),
    { numRuns: 300 },
  );
  assert.equal(hoursOf({ days: [1], start_minute: 570, end_minute: 1020 }), null);
  assert.throws(() => restrictionOf(new Set([9, 10, 34]), "/x"), /the same hours/);
  assert.throws(() => restrictionOf(new Set(), "/x"), /at least one hour/);
});

test("what of some gaps others don't hold, minute by minute", () => {
  const gaps = fc
    .uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 12 })
    .map((times) => times.sort((a, b) => a - b))
    .map((times) =>
      times.flatMap((starts_at, at) =>
        at % 2 === 0 && times[at + 1] !== undefined
          ? [{ starts_at, ends_at: times[at + 1] ?? 0 }]
          : [],
      ),
    );
  const minutes = (of: { starts_at: number; ends_at: number }[]) =>
    Array.from({ length: 61 }, (_, at) =>
      of.some((gap) => gap.starts_at <= at && at < gap.ends_at),
    );
  fc.assert(
    fc.property(gaps, gaps, (these, others) => {
      const [one, other] = [minutes(these), minutes(others)];
      assert.deepEqual(
        minutes(gapsWithout(these, others)),
        one.map((is, at) => is && !other[at]),
      );
    }),
    { numRuns: 300 },
  );
});

async function rota(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const [ann, bob] = [
    box.person("member", "ann@example.org"),
    box.person("member", "bob@example.org"),
  ];
  const now = Math.floor(box.clock.now() / 1000);
  const layer = {
    name: "daily",
    participants: [ann.accountId, bob.accountId],
    rotation_start: now - 3601,
    shift_minutes: 1440,
    restriction: { days: [1, 2, 3, 4, 5], start_minute: 570, end_minute: 1020 },
  };
  const body = { name: "first", timezone: "Europe/Berlin", layers: [layer] };
  assert.equal((await box.api("POST", "/v1/projects/shop/oncall/schedules", body)).status, 201);
  const saved = async (name = "first") =>
    (await box.api("GET", `/v1/projects/shop/oncall/schedules/${name}`)).body;
  return { box, ann, bob, saved, tab: signedIn(box, ann) };
}

const PAGE = "/oncall/shop/first/layers";

/** What a browser would send of the page's form. */
function fieldsOf(text: string): [string, string][] {
  const form = /<form id="layers-form"[\s\S]*?<\/form>/.exec(text)?.[0] ?? "";
  const plain = (value: string) =>
    value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
  const inputs = [...form.matchAll(/<input([^>]*)>/g)].flatMap(
    ([, attributes = ""]): [string, string][] => {
      const name = /name="([^"]*)"/.exec(attributes)?.[1];
      const value = plain(/value="([^"]*)"/.exec(attributes)?.[1] ?? "on");
      const isBox = /type="(?:checkbox|radio)"/.test(attributes);
      return name === undefined || (isBox && !/ checked/.test(attributes)) ? [] : [[name, value]];
    },
  );
  const lists = [
    ...form.matchAll(/<select[^>]*name="([^"]*)"[\s\S]*?<option value="([^"]*)" selected/g),
  ];
  return [...inputs, ...lists.map(([, name = "", value = ""]): [string, string] => [name, value])];
}

const having = (fields: [string, string][], ...changed: [string, string][]): [string, string][] => [
  ...fields.filter(([name]) => !changed.some(([other]) => other === name)),
  ...changed,
];
const words = (text: string): string => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
const section = (text: string, id: string): string =>
  words(new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(text)?.[0] ?? "");

test("a form saved as it is drawn changes nothing, to the second", async (t) => {
  const { saved, tab } = await rota(t);
  const before = await saved();
  const { text } = await tab.get(PAGE);
  assert.match(words(text), /As it is: Mon, Tue, Wed, Thu, Fri 09:30 – 17:00/);
  const done = await tab.post(PAGE, fieldsOf(text), { from: PAGE });
  assert.equal(done.headers.get("location"), "/oncall/shop/first", words(done.text).slice(0, 300));
  assert.deepEqual(await saved(), before);
});

test("people are moved, added and taken away, layers too, without script and without saving; what that opens and closes is told", async (t) => {
  const { ann, bob, saved, tab } = await rota(t);
  const before = await saved();
  let text = (await tab.get(PAGE)).text;
  const does = async (deed: string, ...more: [string, string][]) => {
    const answer = await tab.post(`${PAGE}/try`, having(fieldsOf(text), ["do", deed], ...more), {
      from: PAGE,
    });
    assert.equal(answer.status, 200);
    text = answer.text;
    return fieldsOf(text)
      .filter(([name]) => name === "l0-person")
      .map(([, id]) => id);
  };
  assert.deepEqual(await does("down:0:0"), [bob.accountId, ann.accountId]);
  assert.deepEqual(await does("add:0", ["l0-add", bob.accountId]), [
    bob.accountId,
    ann.accountId,
    bob.accountId,
  ]);
  assert.deepEqual(await does("remove:0:0"), [ann.accountId, bob.accountId]);
  assert.deepEqual(await does("up:0:1"), [bob.accountId, ann.accountId]);
  await does("new-layer", ["l0-name", "days"]);
  assert.match(text, /value="layer 2"/);
  assert.match(section(text, "would"), /Closes \d+ gaps: /);
  assert.deepEqual(await saved(), before, "nothing is saved yet");
  await does("layer-up:1");
  const done = await tab.post(PAGE, fieldsOf(text), { from: PAGE });
  assert.equal(done.status, 303, words(done.text).slice(0, 300));
  const after = await saved();
  assert.deepEqual(
    after.layers.map((layer: { name: string }) => layer.name),
    ["layer 2", "days"],
  );
  assert.deepEqual(after.layers[1].restriction, before.layers[0].restriction);
  text = (await tab.get(PAGE)).text;
  await does("layer-remove:0");
  assert.match(section(text, "would"), /Opens \d+ gaps: /);
});

test("hours are ticked, names changed, ladders follow; what is wrong stands at its field with all that was typed", async (t) => {
  const { box, saved, tab } = await rota(t);
  const step = { accounts: [], schedules: ["first"], after_minutes: 0, repeat_minutes: 0 };
  assert.equal(
    (await box.api("POST", "/v1/projects/shop/rules", { name: "r", escalations: [step] })).status,
    201,
  );
  const drawn = fieldsOf((await tab.get(PAGE)).text).filter(([name]) => name !== "l0-hour");
  const hours = [22, 23].flatMap((hour): [string, string][] => [["l0-hour", String(24 + hour)]]);
  const ragged = await tab.post(
    PAGE,
    [...having(drawn, ["l0-when", "hours"], ["name", "typed"]), ...hours, ["l0-hour", "60"]],
    { from: PAGE },
  );
  assert.equal(ragged.status, 422);
  assert.match(words(ragged.text), /must be the same hours on each of its days/);
  assert.match(ragged.text, /name="name" value="typed"/);
  const zone = await tab.post(PAGE, having(drawn, ["timezone", "Mars/Base"]), { from: PAGE });
  assert.match(words(zone.text), /must be an IANA name/);
  const none = await tab.post(
    PAGE,
    drawn.filter(([name]) => name !== "l0-person"),
    { from: PAGE },
  );
  assert.match(words(none.text), /A layer needs participants.*must not be empty/);
  const done = await tab.post(
    PAGE,
    [...having(drawn, ["l0-when", "hours"], ["name", "night"], ["shared", "on"]), ...hours],
    { from: PAGE },
  );
  assert.equal(done.headers.get("location"), "/oncall/shop/night");
  const after = await saved("night");
  assert.equal(after.shared, true);
  assert.deepEqual(after.layers[0].restriction, {
    days: [1],
    start_minute: 1320,
    end_minute: 1440,
  });
  const { body } = await box.api("GET", "/v1/projects/shop/rules/r");
  assert.deepEqual(body.escalations[0].schedules, ["night"]);
  const page = "/oncall/shop/night/layers";
  const held = await tab.post(`${page}/delete`, {}, { from: page });
  assert.equal(held.status, 409);
  await box.api("DELETE", "/v1/projects/shop/rules/r");
  assert.equal(
    (await tab.post(`${page}/delete`, {}, { from: page })).headers.get("location"),
    "/oncall",
  );
  assert.equal((await tab.get("/oncall/shop/night")).status, 404);
});
