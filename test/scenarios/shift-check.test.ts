import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { examine } from "../../src/app/operate/doctor.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { signedIn } from "../support/console.ts";
import { pushStory } from "../support/push-story.ts";
import { answer } from "../support/receiver.ts";
import { pass, settle } from "../support/until.ts";

/** Days turn between Ann and Bob; the next one begins within a minute. */
async function rota(t: TestContext) {
  const story = await pushStory(t);
  const { box, ann, bob } = story;
  const now = Math.floor(box.clock.now() / 1000);
  const begins = now + 60 - (now % 60);
  const layers = [
    {
      name: "daily",
      shift_minutes: 1440,
      restriction: null,
      participants: [ann.accountId, bob.accountId],
      rotation_start: begins - 86_400,
    },
  ];
  const write = { name: "primary", timezone: "UTC", layers, hand_over: false };
  const path = "/v1/projects/payments/oncall/schedules";
  assert.equal((await box.api("POST", path, write)).status, 201);
  await settle(box);
  const turn = (seconds: number) => pass(box, seconds, seconds);
  return {
    ...story,
    begins,
    write,
    path: `${path}/primary`,
    turn,
    untilBegin: () => turn(begins - now),
  };
}

test("whoever's shift begins is pushed once; nothing shown in a quarter of an hour is told; what is shown at last ends that", async (t) => {
  const { box, ann, bob, subscribe, see, untilBegin, turn, begins } = await rota(t);
  const [pixel, tablet] = [
    await subscribe(bob, "pixel"),
    await subscribe(bob, "tablet", { wants: ["pages"] }),
  ];
  await subscribe(ann, "anns");
  assert.equal(pixel.pushed().length, 0);
  await untilBegin();
  const push = pixel.shown();
  assert.match(push.title, /^You're on call for payments \/ primary until \w{3} \d\d:\d\d \S+\.$/);
  assert.deepEqual(
    [push.data.kind, push.data.alert, push.navigate, push.silent],
    ["shift", null, "https://box.test/oncall", undefined],
  );
  assert.equal(tablet.pushed().length, 0, "it doesn't want shifts");

  const bar = async (person = ann) => (await signedIn(box, person).get("/alerts")).text;
  const said = /bob@example\.org is not confirmed/;
  box.clock.setWall(box.clock.now() - 120_000);
  await turn(130);
  await box.restart();
  await settle(box);
  await turn(760);
  assert.doesNotMatch(await bar(), said, "there is time until then");
  assert.equal(
    pixel.pushed().length,
    1,
    "nobody is asked twice, whatever the clock and the box do",
  );
  await turn(12);
  assert.match(await bar(), said, "who had it before");
  assert.match(await bar(box.owner), said, "who manages");
  assert.doesNotMatch(await bar(box.person("member")), said, "nobody else");
  const oncall = async () => (await signedIn(box).get("/oncall")).text;
  assert.match(await oncall(), /<strong>unconfirmed<\/strong>/);
  const findings = async () =>
    (await examine({ data: box.data, clock: box.clock, random: systemRandom })).filter(
      ({ check }) => check === "shifts",
    );
  assert.match(
    (await findings())[0]?.detail ?? "",
    /bob@example\.org is not confirmed for payments/,
  );

  assert.equal((await see(push.data.receipt)).status, 204);
  assert.doesNotMatch(await bar(), said);
  assert.doesNotMatch(await oncall(), /<strong>unconfirmed/);
  assert.deepEqual(await findings(), []);
  assert.ok(begins > 0);
});

test("an answer of before proves nothing; somebody who is relieved has nothing to show; a schedule may go without", async (t) => {
  const { box, ann, bob, subscribe, see, untilBegin, turn, path, write, rule, step, fire } =
    await rota(t);
  const [pixel, anns] = [await subscribe(bob, "pixel"), await subscribe(ann, "anns")];
  await rule([step(bob)]);
  await fire(1);
  const page = pixel.shown();
  await untilBegin();
  await turn(901);
  await see(page.data.receipt);
  const bar = async () => (await signedIn(box).get("/alerts")).text;
  assert.match(await bar(), /is not confirmed/, "it was sent before anybody was asked");
  const ends_at = Math.floor(box.clock.now() / 1000) + 7200;
  const cover = { account_id: ann.accountId, ends_at };
  assert.equal((await box.api("POST", `${path}/overrides`, cover)).status, 201);
  await settle(box);
  assert.doesNotMatch(await bar(), /bob@example\.org is not confirmed/);
  assert.equal(anns.shown().data.kind, "shift", "a shift that begins by an override is one");
  const stored = await box.api("PUT", path, { ...write, shift_check: false });
  assert.deepEqual([stored.status, stored.body.shift_check], [200, false]);
  await turn(7200);
  assert.equal(pixel.pushed().filter(({ data }) => data.kind === "shift").length, 1);
});

test("a push that isn't taken is tried again, and time in which the box was off is not counted", async (t) => {
  const { box, bob, receiver, subscribe, untilBegin, turn } = await rota(t);
  const pixel = await subscribe(bob, "pixel");
  receiver.once(answer(503), answer(503));
  await untilBegin();
  assert.equal(pixel.pushed().length, 0);
  await pass(box, 60, 5);
  assert.equal(pixel.pushed().length, 1);
  await box.restart(() => box.clock.turn(1800_000));
  await settle(box);
  const bar = async () => (await signedIn(box).get("/alerts")).text;
  assert.doesNotMatch(await bar(), /is not confirmed/);
  await turn(900);
  assert.match(await bar(), /is not confirmed/);
});

test("whose devices for shifts were given up by their services isn't confirmed either, and sees so on each page until one is added again", async (t) => {
  const { box, bob, receiver, subscribe, untilBegin, turn, rule, step, fire } = await rota(t);
  await subscribe(bob, "pixel");
  await subscribe(bob, "tablet", { wants: ["pages"] });
  await rule([step(bob)]);
  const seen = async (person = box.owner) => (await signedIn(box, person).get("/alerts")).text;
  const lost = /<strong>pixel isn’t rung any more<\/strong>/;
  assert.doesNotMatch(await seen(bob), lost);
  receiver.once(answer(410));
  await fire(1);
  assert.match(await seen(bob), lost);
  assert.match(
    (await signedIn(box, bob).get("/me/devices")).text,
    /id="add-browser"[^>]* data-anew/,
  );
  await untilBegin();
  await turn(880);
  assert.doesNotMatch(await seen(), /is not confirmed/, "there is time until then");
  await turn(30);
  assert.match(await seen(), /bob@example\.org is not confirmed/);
  const again = await subscribe(bob, "pixel");
  assert.doesNotMatch(await seen(bob), lost);
  const ring = `/v1/push/subscriptions/${again.id}/test`;
  assert.equal((await box.api("POST", ring, undefined, bob.key)).status, 200);
  assert.equal((await signedIn(box, bob).get("/me/devices")).text.includes("data-anew"), false);
});

test("what a device shows of its own shift's push answers that, also where the box's clock was set meanwhile", async (t) => {
  for (const jump of [600_000, -600_000]) {
    const { box, bob, subscribe, see, untilBegin, turn } = await rota(t);
    const pixel = await subscribe(bob, "pixel");
    await untilBegin();
    const push = pixel.shown();
    box.clock.setWall(box.clock.now() + jump);
    await turn(2);
    assert.equal((await see(push.data.receipt)).status, 204);
    await turn(1000);
    const bar = (await signedIn(box).get("/alerts")).text;
    assert.doesNotMatch(bar, /is not confirmed/, `${jump}`);
  }
});

test("whoever is on call and whose devices have shown nothing for eight days is asked to try one", async (t) => {
  const { box, ann, bob, subscribe, see, untilBegin, path, write, rule, step, fire } =
    await rota(t);
  // It was off meanwhile: eight days of its every minute would take long.
  const later = async (seconds: number) => {
    await box.restart(() => box.clock.setWall(box.clock.now() + seconds * 1000));
    await settle(box);
  };
  const pixel = await subscribe(bob, "pixel");
  const unchecked = await box.api("PUT", path, { ...write, shift_check: false });
  assert.equal(unchecked.status, 200);
  await rule([step(bob)]);
  await untilBegin();
  const asked = /pixel is not proved for 8 days<.strong>, and you are on call/;
  const bar = async (person = bob) => (await signedIn(box, person).get("/alerts")).text;
  await later(8 * 86_400 - 120);
  assert.doesNotMatch(await bar(), asked, "not yet");
  await later(120);
  assert.match(await bar(), asked);
  assert.doesNotMatch(await bar(ann), /hasn’t confirmed a push/, "she has no device, and no duty");
  await fire(1);
  await see(pixel.shown().data.receipt);
  assert.doesNotMatch(await bar(), asked, "it was shown");
  await later(86_400);
  await later(8 * 86_400);
  assert.doesNotMatch(await bar(), asked, "somebody else is on call");
  await later(86_400);
  assert.match(await bar(), /is not proved for 10 days/);
});
