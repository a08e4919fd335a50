import assert from "node:assert/strict";
import { cpSync, existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loadKeyRing } from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { keyIdOf } from "../../../src/ground/kit/seal.ts";
import { ringSealer } from "../../../src/ground/kit/sealer.ts";
import { sealPlace, unreadableRows } from "../../../src/ground/store/sealed.ts";
import { openReader } from "../../../src/ground/store/store.ts";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { servedBefore } from "../../support/data.ts";
import { boxCommand, boxJson, serve } from "../../support/process.ts";
import { scratch } from "../../support/scratch.ts";

/** The socket of a data directory, beside processes that are killed, and a second one. */

const socketIn = (data: string) => join(data, "serve.sock");

test("a socket that a killed box left is no box, and the next start makes its own; a second start leaves it alone", async (t) => {
  const data = join(scratch(t), "data");
  servedBefore(data, "box");
  const killed = await serve(t, data);
  await killed.end("SIGKILL");
  assert.ok(lstatSync(socketIn(data)).isSocket());
  await boxJson("pair-code", "--data", data);
  const served = await serve(t, data);
  const { ino } = lstatSync(socketIn(data));
  const second = await boxCommand("serve", "--data", data, "--listen", "127.0.0.1:0");
  assert.equal(second.code, 1);
  assert.match(second.err, /Another process already serves/);
  assert.equal(lstatSync(socketIn(data)).ino, ino);
  const { link } = await boxJson("pair-code", "--data", data);
  assert.ok(link.startsWith(served.url), link);
  await served.end("SIGTERM");
  assert.ok(!existsSync(socketIn(data)));
});

const ROWS = 4_000;

/** The data directory of a stopped box with so many sealed contacts. */
async function manySealed(t: TestContext): Promise<string> {
  const data = join(scratch(t), "data");
  const box = await testBox({}, handClock(Date.now()));
  t.after(() => box.stop());
  const { tenant, owner } = box;
  const sealed = (id: string) =>
    tenant.sealer.seal(JSON.stringify({ address: id }), sealPlace("contacts", "sealed", id));
  const body = { kind: "email", address: "a@example.org" };
  const made = await box.api("POST", "/v1/accounts/me/contacts", body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  tenant.store.write((tx) => {
    const first = tx.sql("SELECT * FROM contacts").get() as Record<string, unknown>;
    const names = Object.keys(first);
    const insert = tx.sql(
      `INSERT INTO contacts (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    );
    for (let i = 0; i < ROWS - 1; i++) {
      const id = i.toString(16).padStart(16, "0");
      const own = {
        ...first,
        id,
        account_id: owner.accountId,
        sealed: sealed(id),
        position: i + 9,
      };
      insert.run(...names.map((name) => own[name as keyof typeof own]));
    }
  });
  await box.restart(() => cpSync(box.data, data, { recursive: true }));
  return data;
}

test("a box that is killed in the middle of a rotation lost nothing, and the next rotation ends it", async (t) => {
  const data = await manySealed(t);
  const look = () =>
    openReader({
      path: join(data, "box.db"),
      kind: "box",
      clock: handClock(),
      random: systemRandom,
    });
  const keys = () => {
    const reader = look();
    const rows = reader.sql("SELECT sealed FROM contacts").pluck().all();
    reader.close();
    return Map.groupBy(rows, (sealed) => keyIdOf(String(sealed)));
  };
  const unreadable = () => {
    const { ring } = loadKeyRing(data, "box.key");
    assert.ok(ring !== null);
    const reader = look();
    const rows = unreadableRows(reader, ringSealer(ring));
    reader.close();
    return rows;
  };
  for (let tries = 1; ; tries++) {
    assert.ok(tries < 10, "no rotation was met in its middle");
    const served = await serve(t, data);
    const before = keys();
    assert.equal(before.size, 1);
    let isOver = false;
    const rotation = boxCommand("key-file", "rotate", "--data", data).finally(() => {
      isOver = true;
    });
    while (keys().size === 1 && !isOver) await new Promise(setImmediate);
    await served.end("SIGKILL");
    const { code, err } = await rotation;
    if (code === 0) continue;
    assert.equal(code, 1);
    assert.match(err, /ended before it answered\. Whether it did what was asked isn't known/);
    break;
  }
  assert.equal(keys().size, 2, "some are sealed with the new key, some with the old one");
  assert.deepEqual(unreadable(), []);
  await serve(t, data);
  const done = await boxJson("key-file", "rotate", "--data", data);
  assert.deepEqual([done.resealed, done.unreadable], [ROWS, 0]);
  assert.deepEqual([...keys().keys()], [done.key_id]);
  assert.deepEqual(unreadable(), []);
});
