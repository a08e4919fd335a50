import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import Database from "better-sqlite3";
import { boxCommand, boxJson, call, firstKey, serve } from "../../support/process.ts";
import { startReceiver } from "../../support/receiver.ts";
import { hashes, scratch } from "../../support/scratch.ts";

test("a backup under write load restores to a box that goes on and pages nobody twice", async (t) => {
  const directory = scratch(t);
  const data = join(directory, "data");
  const file = join(directory, "copy.db");
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await serve(t, data, "--ingest-rate", "0");
  const key = await firstKey(box, data);
  await call(box, key, "POST", "/v1/projects", { name: "shop" });
  const source = await call(box, key, "POST", "/v1/projects/shop/sources", {
    name: "app",
    retain_logs: true,
  });
  await call(box, key, "POST", "/v1/projects/shop/integrations", {
    type: "webhook",
    name: "hook",
    url: receiver.url,
  });
  await call(box, key, "POST", "/v1/projects/shop/rules", {
    name: "errors",
    match: { min_level: 400 },
    identifier_keys: ["k"],
  });

  let accepted = 0;
  let alerts = 0;
  let writing = true;
  const writer = (async () => {
    while (writing) {
      const lines = Array.from({ length: 100 }, (_, i) =>
        i === 0
          ? { message: "it broke", level: 400, keys: { k: ++alerts } }
          : { message: `line ${i}` },
      );
      const answer = await call(
        box,
        source.body.token,
        "POST",
        "/v1/ingest",
        lines.map((line) => JSON.stringify(line)).join("\n"),
      );
      accepted += answer.body.accepted ?? 0;
    }
  })();
  await untilTrue(() => accepted > 1000);
  const before = accepted;
  const taken = await boxJson("backup", file, "--data", data);
  const after = accepted;
  await untilTrue(() => accepted > after + 1000);
  writing = false;
  await writer;
  await untilTrue(() => new Set(ids()).size === alerts);
  function ids() {
    return receiver.received.map(({ headers }) => headers["webhook-id"]);
  }

  assert.ok(after > before, "written meanwhile");
  assert.ok(taken.counts.log_lines >= before && taken.counts.log_lines <= after + 100);
  assert.equal(taken.serving, true);
  assert.equal((await boxJson("verify", file)).sha256, taken.sha256);

  // Not over a running box.
  const refused = await boxCommand("restore", file, "--data", data, "--replace");
  assert.deepEqual([refused.code, /already serves/.test(refused.err)], [1, true]);

  const readyz = await fetch(`${box.url}/readyz`);
  assert.match(await readyz.text(), /"backup"/);
  const pulled = await call(box, key, "GET", "/v1/pull?cursor=0");
  const lastId = Math.max(...pulled.body.alerts.map(({ id }: { id: string }) => Number(id)));
  await box.end("SIGKILL");
  assert.ok(existsSync(join(data, "box.db-wal")), "side files are left");

  // Damaged copies are refused and what is there stays.
  const there = hashes(data);
  const bad = join(directory, "bad.db");
  for (const damage of ["truncated", "flipped", "unsaid"]) {
    copyFileSync(file, bad);
    copyFileSync(`${file}.json`, `${bad}.json`);
    if (damage === "truncated") truncateSync(bad, taken.size - 4096);
    if (damage === "flipped") {
      const bytes = readFileSync(bad);
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(bad, bytes);
    }
    if (damage === "unsaid") writeFileSync(`${bad}.json`, "{}");
    for (const command of [
      ["verify", bad],
      ["restore", bad, "--data", data, "--replace"],
    ]) {
      const { code, err } = await boxCommand(...command);
      assert.deepEqual([code, err.trim().split("\n").length], [65, 1], `${damage}: ${err}`);
    }
    assert.deepEqual(hashes(data), there, damage);
  }

  const restored = await boxJson("restore", file, "--data", data, "--replace");
  const kept = new Database(join(restored.kept_aside, "box.db"), { readonly: true });
  assert.equal(kept.prepare("SELECT count(*) FROM log_lines").pluck().get(), accepted);
  kept.close();
  const now = new Database(join(data, "box.db"), { readonly: true });
  assert.equal(now.pragma("integrity_check", { simple: true }), "ok");
  assert.equal(now.prepare("SELECT count(*) FROM log_lines").pluck().get(), taken.counts.log_lines);
  now.close();

  const again = await serve(t, data);
  const sent = receiver.received.length;
  const fired = await call(again, source.body.token, "POST", "/v1/ingest", {
    message: "it broke",
    level: 400,
    keys: { k: "new" },
  });
  assert.equal(fired.body.alerted, true);
  await untilTrue(() => receiver.received.length > sent);
  assert.equal(new Set(ids()).size, receiver.received.length, "no event came twice");
  const seen = await call(again, key, "GET", `/v1/pull?cursor=${lastId}`);
  assert.equal(seen.body.alerts.length, 1, "a reader's cursor still works");
});

async function untilTrue(condition: () => boolean): Promise<void> {
  const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 4000);
    await pause(10);
  }
}
