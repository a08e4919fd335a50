import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openStage } from "./story.ts";

const stage = openStage();
after(() => stage.close());

const SEEDS = 2000;

test(`${SEEDS} stories of rules, ladders, acks, restarts and clock steps go as the decisions say`, (t) => {
  const sum = { days: 0, events: 0, restarts: 0, jumps: 0 };
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const story = stage.play(seed);
    assert.deepEqual(
      story.faults,
      [],
      `seed ${seed}: node test/simulation/run.ts --from ${seed} --seeds 1`,
    );
    sum.days += story.simulatedSeconds / 86_400;
    sum.events += story.events;
    sum.restarts += story.restarts;
    sum.jumps += story.jumps;
  }
  t.diagnostic(JSON.stringify(sum));
  assert.ok(sum.days > (7 * SEEDS) / 2 && sum.events > 10 * SEEDS, "the stories are worth telling");
  assert.ok(sum.restarts > SEEDS / 2 && sum.jumps > SEEDS / 2, "and have their troubles");
});

test("the same seed gives the same log, byte for byte; another seed another", () => {
  for (let seed = 1; seed <= 20; seed += 1)
    assert.equal(stage.play(seed).log, stage.play(seed).log, `seed ${seed}`);
  assert.notEqual(stage.play(1).log, stage.play(2).log);
});
