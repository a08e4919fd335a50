import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChannelFacts, channelHealth } from "../../../src/out/outbox/channel-health.ts";

const DAY = 86_400;
const breaker = { minFailures: 20, minSpanMs: DAY * 1000 };
const AT = Date.UTC(2026, 0, 5, 2, 10) / 1000;
const well: ChannelFacts = {
  enabled: true,
  failures: 0,
  failingSince: null,
  error: null,
  workedAt: AT,
  offAt: null,
  offBy: null,
  waiting: 0,
  nextTryAt: null,
};
const said = (facts: Partial<ChannelFacts>) => channelHealth({ ...well, ...facts }, breaker);

test("what a channel's health says, state by state", () => {
  const cases: [Partial<ChannelFacts>, string, string][] = [
    [{}, "works", "Works: it took something at 2026-01-05 02:10 UTC."],
    [{ workedAt: null }, "never_tried", "Nothing was sent yet: send a test."],
    [
      { failures: 3, failingSince: AT, error: "http 503", nextTryAt: AT + 60 },
      "failing",
      "Failing since 2026-01-05 02:10 UTC, 3 times: http 503. Next try at 2026-01-05 02:11 UTC. Turns itself off, 17 failures on, from 2026-01-06 02:10 UTC unless it recovers.",
    ],
    [
      { failures: 19, failingSince: AT, error: "reset" },
      "failing",
      "Failing since 2026-01-05 02:10 UTC, 19 times: reset. Turns itself off from 2026-01-06 02:10 UTC unless it recovers.",
    ],
    [{ error: "timeout" }, "failing", "The last try didn't get through: timeout."],
    [
      { enabled: false, offAt: AT, offBy: "breaker", failingSince: AT, error: "disabled after 20" },
      "off",
      "Off since 2026-01-05 02:10 UTC: it turned itself off after it had failed for long (disabled after 20).",
    ],
    [
      { enabled: false, offAt: AT, offBy: "receiver", failures: 1, failingSince: AT },
      "off",
      "Off since 2026-01-05 02:10 UTC: its receiver asked for no more.",
    ],
    [
      { enabled: false, offAt: AT, offBy: "0123456789abcdef" },
      "off",
      "Off since 2026-01-05 02:10 UTC: a person turned it off.",
    ],
    [{ enabled: false }, "off", "Off."],
  ];
  for (const [facts, state, text] of cases) {
    const health = said(facts);
    assert.deepEqual([health.state, health.text], [state, text]);
  }
});

test("who turned it off is named only where it was somebody; a streak from before this was noted is the breaker's", () => {
  const off = { enabled: false, offAt: AT };
  const who = (facts: Partial<ChannelFacts>) => {
    const { off_by, off_by_account } = said({ ...off, ...facts });
    return [off_by, off_by_account];
  };
  assert.deepEqual(who({ offBy: "0123456789abcdef" }), ["person", "0123456789abcdef"]);
  assert.deepEqual(who({ offBy: "operator" }), ["operator", null]);
  assert.deepEqual(who({ failingSince: AT }), ["breaker", null]);
  assert.deepEqual(who({}), [null, null]);
});
