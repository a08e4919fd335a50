import assert from "node:assert/strict";
import { alertsIn, keptStage } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { startReceiver } from "../support/receiver.ts";
import { untilSo } from "../support/until.ts";

/** A box that is told to stop where it doesn't hear its database: `--database-away stop`. */

const event = (n: number) => ({ message: "the till is stuck", keys: { n: String(n) } });

postgresTest(
  "without its database it answers 503 and sends nothing, and goes on with it",
  async (t) => {
    const { machine, reach } = await keptStage(t);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const box = machine("one", ["BOX_DATABASE_AWAY=stop"]);
    await box.start();
    const token = await box.project("shop", receiver.url);
    reach(false);
    const reply = await box.ingest(token, event(1));
    assert.equal(reply.status, 503, reply.body);
    assert.match(reply.body, /not_ready/);
    await untilSo(
      async () => (await box.api.call("GET", "/v1/role")).status === 503,
      "it says that it serves nobody",
    );
    const role = JSON.parse((await box.api.call("GET", "/v1/role")).body);
    assert.deepEqual([role.role, role.isStopped], ["owner", undefined]);
    const ready = await box.api.call("GET", "/readyz");
    assert.equal(ready.status, 503);
    assert.match(ready.body, /so nothing is answered or sent/);
    assert.equal((await box.ingest(token, event(2))).status, 503);
    assert.equal(receiver.received.length, 0, "nothing was sent");
    reach(true);
    await untilSo(
      async () => (await box.api.call("GET", "/v1/role")).status === 200,
      "it serves again",
    );
    assert.equal((await box.ingest(token, event(3))).status, 202);
    await untilSo(async () => receiver.received.length >= 3, "all of them ring");
    await box.stop();
    assert.deepEqual([...alertsIn(box.data).numbers].toSorted(), ["1", "2", "3"]);
  },
);
