import assert from "node:assert/strict";
import { test } from "node:test";
import { Pool } from "undici";
import { serverLimits } from "../../src/web/http/server-limits.ts";
import { until } from "../support/until.ts";
import { served } from "./served.ts";

const READERS = 400;

test("a planned stop answers every parked reader and waits for no connection that is idle then", async () => {
  const box = await served(serverLimits);
  const pool = new Pool(`http://127.0.0.1:${box.port}`, { connections: READERS, pipelining: 1 });
  const readers = Array.from({ length: READERS }, async () => {
    const answer = await pool.request({
      path: "/v1/pull?cursor=0&wait=50",
      method: "GET",
      headers: { authorization: `Bearer ${box.key}` },
    });
    await answer.body.dump();
    return answer.statusCode;
  });
  await until(() => box.tenant.waiters.parked === READERS, "all are parked");
  const from = performance.now();
  await box.stop();
  const took = performance.now() - from;
  assert.deepEqual(new Set(await Promise.all(readers)), new Set([200]));
  assert.deepEqual(box.errors, []);
  // After five seconds connections are cut, idle or not.
  assert.ok(took < 4500, `${took} ms`);
  await pool.destroy();
});
