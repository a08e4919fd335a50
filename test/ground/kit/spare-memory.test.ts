import assert from "node:assert/strict";
import ffi from "node:ffi";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { returnSpareMemory } from "../../../src/ground/kit/spare-memory.ts";
import { handClock } from "../../support/clock.ts";
import { until } from "../../support/until.ts";

/** Smaller than what the C library maps by itself, and returns at once. */
const PIECE = 100_000n;
const PIECES = 800;

test("after a quiet minute the system has the memory that was freed before a piece in use", async () => {
  const { functions: libc } = ffi.dlopen(null, {
    malloc: { arguments: ["uint64"], return: "pointer" },
    memset: { arguments: ["pointer", "int32", "uint64"], return: "pointer" },
    free: { arguments: ["pointer"], return: "void" },
  });
  const filled = () => libc.memset(libc.malloc(PIECE), 1, PIECE);
  const clock = handClock();
  let cpu = 0;
  returnSpareMemory(clock, () => cpu);
  const pieces = Array.from({ length: PIECES }, filled);
  const last = filled();
  for (const piece of pieces) libc.free(piece);
  const held = resident();

  cpu += 3000;
  await clock.turn(60_000);
  assert.ok(held - resident() < 40, "a busy minute");
  cpu += 2999;
  await clock.turn(60_000);
  await until(() => held - resident() > 60, "a quiet minute");
  libc.free(last);
});

/** Anonymous memory of this process in MB. */
const resident = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1000;
