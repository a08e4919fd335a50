import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { firstKey, serve } from "../support/process.ts";
import { scratch } from "../support/scratch.ts";

const workers = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).filter(
    (id) => readFileSync(`/proc/${pid}/task/${id}/comm`, "utf8").trim() === "libuv-worker",
  ).length;

test("a box that serves has threads for many names whose servers are silent", {
  skip: process.platform !== "linux" && "threads are counted in /proc",
}, async (t) => {
  const data = scratch(t);
  const served = await serve(t, data);
  // The first password is the first that needs a thread.
  await firstKey(served, data);
  assert.equal(workers(served.pid), 48);
});
