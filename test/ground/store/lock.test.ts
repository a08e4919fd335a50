import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { isLocked, lockDirectory } from "../../../src/ground/store/lock.ts";
import { scratch } from "../../support/scratch.ts";

/** Looks whether the directory is served, as `isLocked` does, and takes its time. */
const LOOK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const Database = require("better-sqlite3");
  const db = new Database(workerData);
  db.exec("BEGIN");
  db.prepare("SELECT count(*) FROM sqlite_schema").get();
  parentPort.postMessage("looking");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  db.close();
`;

test("a look whether a directory is served doesn't keep a box from serving it", async (t) => {
  const data = scratch(t);
  lockDirectory(data)();
  const look = new Worker(LOOK, { eval: true, workerData: join(data, "serve.lock") });
  await new Promise((resolve) => look.once("message", resolve));
  const unlock = lockDirectory(data);
  assert.equal(isLocked(data), true);
  assert.throws(() => lockDirectory(data), { kind: "locked", message: /already serves/ });
  unlock();
  assert.equal(isLocked(data), false);
  await new Promise((resolve) => look.once("exit", resolve));
});
