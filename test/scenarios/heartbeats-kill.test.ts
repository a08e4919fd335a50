import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";

interface Alert {
  state: string;
  count: number;
}

test("killed right after the answer to a ping, the box knows what it said and tells it once", async (t) => {
  const box = boxProcess(await program());
  t.after(() => box.discard());
  await box.start();
  await box.project("shop");
  const made = await box.api.need("POST", "/v1/projects/shop/heartbeats", {
    name: "backup",
    period_seconds: 3600,
  });
  const path = String(made["ping_url"]).replace(/^.*(?=\/ping\/)/, "");
  const ping = async (word: string) => {
    const answer = await fetch(box.url + path + word, { method: "POST", body: "no space left" });
    assert.equal(await answer.text(), "OK");
    await box.kill();
    await box.start();
    const { alerts } = await box.api.need("GET", "/v1/alerts");
    const { state } = await box.api.need("GET", `/v1/projects/shop/heartbeats/${made["id"]}`);
    return { state, alerts: alerts as Alert[] };
  };
  for (let round = 1; round <= 2; round++) {
    const failed = await ping("/7");
    assert.equal(failed.state, "down");
    assert.equal(failed.alerts.length, round);
    assert.deepEqual([failed.alerts[0]?.state, failed.alerts[0]?.count], ["open", 1]);
    const back = await ping("");
    assert.deepEqual([back.state, back.alerts[0]?.state], ["up", "resolved"]);
  }
});

test("an event that could not be committed is owed, over a restart too, and is told once", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "all" });
  const { body } = await box.api("POST", "/v1/projects/shop/heartbeats", {
    name: "backup",
    period_seconds: 3600,
  });
  const path = String(body.ping_url).replace(/^.*(?=\/ping\/)/, "");
  const ping = async (word: string) => (await fetch(`${box.url}${path}${word}`)).status;
  const alerts = async () => (await box.api("GET", "/v1/alerts")).body.alerts as Alert[];

  box.tenant.ingest.shed("storage_full");
  assert.equal(await ping("/fail"), 200);
  assert.equal((await alerts()).length, 0);
  await box.restart();
  await box.clock.turn(10_000);
  assert.deepEqual(
    (await alerts()).map(({ state, count }) => [state, count]),
    [["open", 1]],
  );
  // A crash between the event's commit and the state's: it is owed still, and told again.
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE heartbeats SET owed = ?, due_at = ?").run(
      JSON.stringify([
        {
          action: "fire",
          reason: "failed",
          exit: null,
          duration: null,
          since: null,
          instance: tx.sql<[], string>("SELECT instance FROM heartbeats").pluck().get(),
          at: tx.at,
        },
      ]),
      tx.at,
    ),
  );
  await box.restart();
  await box.clock.turn(10_000);
  assert.deepEqual(
    (await alerts()).map(({ state, count }) => [state, count]),
    [["open", 1]],
  );
  // What failed and came back while nothing could be told is told in its order.
  box.tenant.ingest.shed("storage_full");
  assert.equal(await ping(""), 200);
  assert.equal(await ping("/fail"), 200);
  assert.equal((await alerts()).length, 1);
  await box.clock.turn(10_000);
  assert.deepEqual(
    (await alerts()).map(({ state }) => state),
    ["open", "resolved"],
  );
});
