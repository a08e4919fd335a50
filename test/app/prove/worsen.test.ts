import assert from "node:assert/strict";
import { test } from "node:test";
import type { Api } from "../../../src/app/prove/api.ts";
import { seeded } from "../../../src/app/prove/seeded.ts";
import { createWorsener, MOST_CROWDS } from "../../../src/app/prove/worsen.ts";
import { handClock } from "../../support/clock.ts";

test("however long it goes on, it makes a bounded number of rules", async () => {
  const clock = handClock();
  const made: unknown[] = [];
  const api = {
    // The requests alone are counted: what a box answers to them is the proof's own test.
    need: async (method: string, path: string, body: unknown) => {
      if (method === "POST" && path.endsWith("/rules")) made.push(body);
      return { alerts: [] };
    },
    send: async () => ({ status: 202, body: "" }),
  } as unknown as Api;
  const ledger = { rings: [], rises: [], pressed: [], verbs: [] };
  const step = createWorsener({ api, clock, token: "", ledger, told: [], critical: "" });
  const choice = seeded(1, "worsener");
  for (let n = 0; n < 2_000; n++) await step(choice).catch(() => {});
  assert.equal(made.length, MOST_CROWDS);
});
