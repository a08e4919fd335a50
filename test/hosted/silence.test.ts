import assert from "node:assert/strict";
import { test } from "node:test";
import { FEWEST_BOXES, type HeartbeatSurvey, judgeSurvey } from "../../src/hosted/silence.ts";
import { checkSilence, LOOK_EVERY_SECONDS } from "../../src/hosted/watch.ts";
import { type HostedBench, hostedBench } from "../support/hosted.ts";
import fc from "../support/property.ts";

const BEAT_SECONDS = 60;
const PATIENCE = 300;
/** A box is called silent at most so long after its time ran out. */
const SLACK = LOOK_EVERY_SECONDS;

const sights = fc
  .record({
    watched: fc.nat(60),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    away: fc.boolean(),
    held: fc.boolean(),
  })
  .map(
    ({ share, ...sight }): HeartbeatSurvey => ({
      ...sight,
      unheard: Math.round(share * sight.watched),
    }),
  );

test("a hold begins when most of at least 20 boxes are unheard, and ends when more than half are heard", () => {
  fc.assert(
    fc.property(sights, (sight) => {
      const { watched, unheard, held, away } = sight;
      const verdict = judgeSurvey(sight);
      const mostAreUnheard = unheard > watched / 2;
      const mostAreHeard = watched - unheard > watched / 2;
      if (watched < FEWEST_BOXES) assert.notEqual(verdict, "hold");
      if (verdict === "hold") assert.ok(held ? !mostAreHeard : mostAreUnheard);
      if (verdict === "count") assert.ok(!held && !away);
      // A hold never ends in a page: after it, as after a pause, every box counts as heard.
      if ((held || away) && verdict !== "hold") assert.equal(verdict, "afresh");
      if (!held && !away && watched >= FEWEST_BOXES)
        assert.equal(verdict, mostAreUnheard ? "hold" : "count");
      if (held && watched >= FEWEST_BOXES) assert.equal(verdict, mostAreHeard ? "afresh" : "hold");
    }),
    { numRuns: 500 },
  );
});

interface Signer {
  tenantId: string;
  relayKeyId: string;
}

/** A box with a key, whose person has no phone. */
async function signer({ registry }: HostedBench): Promise<Signer> {
  const { id: tenantId } = await registry.tenants.add({ kind: "box" });
  const { account } = await registry.accounts.add("ada@example.com");
  const pairing = { tenantId, accountId: account.id, boxAccountId: "box-0" };
  const first = await registry.pairings.first(pairing);
  return { tenantId, relayKeyId: first.kind === "paired" ? first.credential.keyId : "" };
}

/** Boxes that report every minute, each at its own second, unless `isDown` says that they can't. */
async function fleet(bench: HostedBench, size: number, offsets: readonly number[]) {
  const signers: Signer[] = [];
  for (let n = 0; n < size; n++) signers.push(await signer(bench));
  const ids = signers.map(({ tenantId }) => tenantId);
  let passed = 0;
  const beat = async (n: number) => {
    const stamp = Math.floor(bench.clock.now() / 1000);
    await bench.registry.heartbeats.beat({ ...(signers[n] as Signer), stamp });
  };
  const told = new Map<number, number>();
  for (let n = 0; n < size; n++) await beat(n);
  return {
    told,
    /** Seconds pass; each look notes in `told` when a box was called silent. */
    async pass(seconds: number, isDown: (box: number) => boolean) {
      for (let left = seconds; left > 0; left -= LOOK_EVERY_SECONDS) {
        await bench.clock.turn(LOOK_EVERY_SECONDS * 1000);
        passed += LOOK_EVERY_SECONDS;
        const due = (n: number) => (passed + (offsets[n] ?? 0)) % BEAT_SECONDS < LOOK_EVERY_SECONDS;
        await Promise.all(
          Array.from({ length: size }, (_, n) => (due(n) && !isDown(n) ? beat(n) : undefined)),
        );
        for (const { tenantId, news } of (await checkSilence(bench)).told)
          if (news === "silent") told.set(ids.indexOf(tenantId), passed);
      }
      return passed;
    },
  };
}

test("an outage of the service's network pages nobody and a dead box is reported, in any sequence", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        size: fc.integer({ min: 2, max: 26 }),
        offsets: fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 26, maxLength: 26 }),
        cut: fc.integer({ min: 1, max: 40 }).map((n) => n * LOOK_EVERY_SECONDS),
        dead: fc.nat(12),
        restart: fc.boolean(),
      }),
      async ({ size, offsets, cut, dead, restart }) => {
        const bench = hostedBench(t);
        const boxes = await fleet(bench, size, offsets);
        await boxes.pass(120, () => false);
        await boxes.pass(cut, () => true);
        const duringCut = boxes.told.size;
        if (restart) await bench.reopen();
        // Some come back and some died meanwhile, but fewer than half.
        const gone = Math.min(dead, Math.ceil(size / 2) - 1);
        const backAt = await boxes.pass(0, () => false);
        await boxes.pass(900, (box) => box < gone);

        if (size >= FEWEST_BOXES) {
          assert.equal(duringCut, 0, "paged for our own outage");
          // The latest end of a hold, if the outage was long enough for one.
          const heldUntil = backAt + BEAT_SECONDS;
          for (const [box, at] of boxes.told) {
            assert.ok(box < gone, `box ${box} of ${size} lives and was called silent`);
            assert.ok(at <= heldUntil + PATIENCE + 2 * SLACK, `told at ${at}`);
          }
        } else if (cut > PATIENCE + BEAT_SECONDS + SLACK) assert.equal(duringCut, size);
        for (let box = 0; box < gone; box++) assert.ok(boxes.told.has(box), `box ${box} is dead`);
      },
    ),
    { numRuns: 25 },
  );
});

test("a page after a hold names the time of the box's last real heartbeat", async (t) => {
  const bench = hostedBench(t);
  const boxes = await fleet(bench, 25, Array(25).fill(0));
  await boxes.pass(60, () => false);
  const lastHeard = Math.floor(bench.clock.now() / 1000);
  await boxes.pass(600, () => true);
  assert.equal(boxes.told.size, 0);
  await boxes.pass(360, (box) => box === 0);
  const now = Math.floor(bench.clock.now() / 1000);
  assert.deepEqual([...boxes.told.keys()], []);
  await bench.clock.turn(LOOK_EVERY_SECONDS * 1000);
  const { told } = await checkSilence(bench);
  assert.deepEqual(
    told.map(({ news, heardAt, at }) => [news, heardAt, at]),
    [["silent", lastHeard, now + LOOK_EVERY_SECONDS]],
  );
});

test("a hold survives a restart, a pause and a clock that is set", async (t) => {
  const bench = hostedBench(t);
  const boxes = await fleet(bench, 20, Array(20).fill(0));
  await boxes.pass(180, () => true);
  const held = async () => (await checkSilence(bench)).look.held;
  assert.equal(await held(), true);
  await bench.reopen();
  assert.equal(await held(), true);
  await bench.clock.turn(3_600_000);
  assert.equal(await held(), true);
  for (const hours of [5, -9]) {
    bench.clock.setWall(bench.clock.now() + hours * 3_600_000);
    assert.equal(await held(), true, `${hours}`);
  }
  await boxes.pass(60, (box) => box < 9);
  assert.equal(await held(), false);
  assert.equal(boxes.told.size, 0);
  await boxes.pass(360, (box) => box < 9);
  assert.deepEqual([...boxes.told.keys()].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8].sort());
});
