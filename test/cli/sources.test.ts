import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";

test("a source shows what became of its events, and what was refused last", async (t) => {
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const token = await served.project("shop", { name: "web" });
  const box = async (...words: string[]) => {
    const { out, err } = await run(words, {
      env: { BOX_URL: served.url, BOX_KEY: served.owner.key },
    });
    assert.equal(err, "");
    return out;
  };
  assert.equal(
    await box("source", "show", "shop", "web"),
    "accepted   0 since the box started\nno rule    matched 0 of them\nrefused    none\nlast seen  never\n",
  );
  await served.ingest(token, { message: "taken" });
  await served.ingest(token, { message: "refused", level: "high" });
  const shown = await box("source", "show", "shop", "web");
  assert.match(
    shown,
    /^accepted +1 since the box started\nno rule +matched 1 of them\nrefused +1 invalid_request\n/,
  );
  assert.match(
    shown,
    /last seen +\d+ s ago\nthe latest refusal, \d+ s ago: \/level: must be .* \(invalid_request\)\n/,
  );
  const listed = await box("source", "list", "shop");
  assert.match(listed, /NAME +KIND +ACCEPTED +NO RULE +REFUSED +LAST SEEN/);
  assert.match(listed, /\nweb +events +1 +1 +1 invalid_request +\d+ s ago/);
  assert.match(shown, /\n {2}\{"message":"refused","level":"high"\}\n$/);
});

test("a webhook's mapping is set from a preset or a file, and tried on a body", async (t) => {
  const served = await testBox();
  t.after(() => served.stop());
  await served.project("shop");
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const box = async (...words: string[]) => (await run(words, { env })).out;
  await box("source", "add", "shop", "kuma", "--kind", "hook", "--mapping", "uptime-kuma");
  const folder = mkdtempSync(join(tmpdir(), "box-mapping-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const body = file("body.json", { heartbeat: { status: 0 }, monitor: { id: 7 }, msg: "Down" });
  const tried = JSON.parse(await box("source", "try", "shop", "kuma", body));
  assert.deepEqual([tried.message, tried.dedup_key, tried.level], ["Down", "kuma:7", 400]);
  const mapping = file("mapping.json", { preset: "uptime-kuma", level: { const: 500 } });
  assert.equal(await box("source", "set", "shop", "kuma", "--mapping", mapping), "changed kuma\n");
  assert.equal(JSON.parse(await box("source", "try", "shop", "kuma", body)).level, 500);
  const { err, code } = await run(["source", "set", "shop", "kuma", "--mapping", "pigeon"], {
    env,
  });
  assert.match(err, /\/options\/mapping: must be one of uptime-kuma/);
  assert.notEqual(code, 0);
});

test("a source says whether the names of its alerts are shared: only then does another's token end them", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors" });
  const make = async (name: string, room: string) =>
    (await box.api("POST", "/v1/projects/shop/sources", { name, room })).body.token as string;
  const [shared, other, own] = [
    await make("shared", "project"),
    await make("other", "project"),
    await make("own", "source"),
  ];
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const { out } = await run(["source", "list", "shop"], { env });
  assert.match(out, /\nshared .* shared +\d{4}-/);
  assert.match(out, /\nown .* its own +\d{4}-/);
  const fired = { message: "it broke", dedup_key: "job" };
  const ends = { message: "it is well", dedup_key: "job", status: "resolved" };
  const unresolved = () =>
    box.tenant.store.sql("SELECT count(*) FROM alerts WHERE state <> 'resolved'").pluck().get();
  await box.ingest(own, fired);
  await box.ingest(shared, fired);
  await box.ingest(other, ends);
  assert.equal(unresolved(), 1);
  await box.ingest(own, ends);
  assert.equal(unresolved(), 0);
});
