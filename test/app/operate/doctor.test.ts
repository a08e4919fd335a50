import assert from "node:assert/strict";
import { chmodSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { examine } from "../../../src/app/operate/doctor.ts";
import type { Finding } from "../../../src/app/operate/finding.ts";
import { unixSeconds } from "../../../src/ground/kit/clock.ts";
import type { Log } from "../../../src/ground/kit/log.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { setMeta } from "../../../src/ground/store/meta.ts";
import { zonesJob } from "../../../src/tenant/lost-zones.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { hashes, scratch } from "../../support/scratch.ts";

async function box(t: TestContext): Promise<TestBox> {
  // What asks the box waits in the machine's time.
  const made = await testBox({}, handClock(Date.now()));
  t.after(() => made.stop());
  return made;
}

const look = ({ data, clock }: TestBox) => examine({ data, clock, random: systemRandom });

const wrong = (findings: Finding[]) =>
  findings
    .filter(({ state }) => state === "wrong")
    .map(({ check, detail }) => `${check}: ${detail}`);

function faultOf(findings: Finding[], check: string): Finding {
  const found = findings.find((finding) => finding.check === check && finding.state === "wrong");
  assert.ok(found, `${check} in ${JSON.stringify(findings)}`);
  assert.notEqual(found.advice, "", "each fault says what to do");
  return found;
}

function channel(b: TestBox, id: string, values: { enabled: number; since: number | null }): void {
  b.tenant.store.write((tx) => {
    tx.sql(
      "INSERT OR IGNORE INTO projects (id, name, version, created_at) VALUES (1, 'shop', 1, 1)",
    ).run();
    tx.sql(
      `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, consecutive_failures, failing_since, last_error, created_at)
       VALUES (?, 1, ?, 'slack', '', ?, '', ?, ?, 'HTTP 500', 1)`,
    ).run(id, id, values.enabled, values.since === null ? 0 : 30, values.since);
  });
}

test("a box that is well: nothing is wrong, and looking changes nothing", async (t) => {
  const b = await box(t);
  channel(b, "calm", { enabled: 0, since: null });
  const before = hashes(b.data);
  const findings = await look(b);
  assert.deepEqual(wrong(findings), []);
  const checks = new Set(findings.map(({ check }) => check));
  for (const check of ["directory", "disk", "clock", "key", "store", "backup", "service", "ingest"])
    assert.ok(checks.has(check), check);
  assert.deepEqual(hashes(b.data), before);
});

test("channels that fail or were shut are named, with the reason", async (t) => {
  const b = await box(t);
  channel(b, "sick", { enabled: 1, since: 1_700_000_000 });
  const failing = faultOf(await look(b), "channels");
  assert.match(failing.detail, /slack "sick" of shop fails since 2023.*30 times: HTTP 500/);
  b.tenant.store.write((tx) => tx.sql("DELETE FROM integrations").run());
  channel(b, "shut", { enabled: 0, since: 1_700_000_000 });
  const shut = faultOf(await look(b), "channels");
  assert.match(shut.detail, /"shut" of shop was turned off.*HTTP 500/);
  assert.match(shut.advice, /integrations\/shut\/enable/);
});

test("a directory or key that others can read, and a key that is gone", async (t) => {
  const b = await box(t);
  chmodSync(b.data, 0o755);
  faultOf(await look(b), "directory");
  chmodSync(b.data, 0o700);
  b.tenant.store.write((tx) => {
    const sealed = b.tenant.sealer.seal("secret", "relay.sealed_secret.1");
    tx.sql("INSERT INTO relay (id, relay_url, sealed_secret) VALUES (1, 'x', ?)").run(sealed);
  });
  const key = join(b.data, "box.key");
  chmodSync(key, 0o644);
  assert.match(faultOf(await look(b), "key file").detail, /too open/);
  chmodSync(key, 0o600);
  assert.deepEqual(
    wrong(await look(b)).filter((text) => text.startsWith("key")),
    [],
  );
  renameSync(key, join(b.data, "elsewhere"));
  faultOf(await look(b), "key");
  renameSync(join(b.data, "elsewhere"), key);
});

test("an old backup, old deliveries and a clock behind", async (t) => {
  const b = await box(t);
  const now = unixSeconds(b.clock);
  b.tenant.store.write((tx) => {
    setMeta(tx, "last_backup", now - 8 * 86_400);
    tx.sql(
      "INSERT INTO deliveries (integration_id, event_row, event, status, created_at) VALUES ('x', 1, 'alert.opened', 'pending', ?)",
    ).run(now - 7200);
  });
  const findings = await look(b);
  assert.match(faultOf(findings, "backup").detail, /192 h ago/);
  assert.match(faultOf(findings, "deliveries").detail, /1 wait, the oldest for 7200 s/);
  const behind = handClock(b.clock.now() - 3600_000);
  const { data } = b;
  // The asking needs a clock that moves; the store's look doesn't.
  const late = Object.assign(behind, { after: (_ms: number, _fn: () => void) => () => {} });
  faultOf(await examine({ data, clock: late, random: systemRandom }), "clock");
});

test("a damaged store, one that is gone, and a directory that is gone", async (t) => {
  const directory = scratch(t);
  const clock = handClock();
  const where = { data: directory, clock, random: systemRandom };
  assert.match(faultOf(await examine(where), "store").detail, /There is no/);
  faultOf(await examine({ ...where, data: join(directory, "no") }), "directory");
  const b = await box(t);
  const copy = scratch(t);
  b.tenant.store.db.prepare("VACUUM INTO ?").run(join(copy, "box.db"));
  truncateSync(join(copy, "box.db"), 8192);
  const damaged = faultOf(await examine({ ...where, data: copy }), "store");
  assert.match(damaged.advice, /box restore/);
  rmSync(join(copy, "box.db"));
});

test("a rule whose alerts are too many to list is named until its shared alert ends", async (t) => {
  const b = await box(t);
  const token = await b.project("shop");
  const rule = { name: "errors", identifier_keys: ["n"], max_open: 1 };
  await b.api("POST", "/v1/projects/shop/rules", rule);
  await b.ingest(token, { message: "down", keys: { n: "1" } });
  assert.ok(!wrong(await look(b)).some((line) => line.startsWith("rules: shop / errors")));
  await b.ingest(token, { message: "down", keys: { n: "2" } });
  const { detail, advice } = faultOf(await look(b), "rules");
  assert.match(
    detail,
    /^shop \/ errors has too many unresolved alerts to list: since .* alert 2 has counted 1 event/,
  );
  assert.match(advice, /box resolve --all --project shop --rule errors/);
  await b.api("POST", "/v1/alerts/2/resolve");
  assert.ok(!wrong(await look(b)).some((line) => line.startsWith("rules: shop / errors")));
});

test("a job whose silence no rule would hear is named, until a rule takes it or it is paused", async (t) => {
  const b = await box(t);
  await b.project("shop");
  const job = { name: "backup", period_seconds: 3600 };
  const { id } = (await b.api("POST", "/v1/projects/shop/heartbeats", job)).body;
  await b.api("POST", "/v1/projects/shop/rules", { name: "high", match: { min_level: 500 } });
  assert.match(faultOf(await look(b), "heartbeats").detail, /backup of shop/);
  const heard = async () => (await look(b)).find(({ check }) => check === "heartbeats")?.state;
  await b.api("PATCH", `/v1/projects/shop/heartbeats/${id}`, { level: 500 });
  assert.equal(await heard(), "ok");
  await b.api("PATCH", `/v1/projects/shop/heartbeats/${id}`, { level: 400 });
  assert.equal(await heard(), "wrong");
  await b.api("POST", `/v1/projects/shop/heartbeats/${id}/pause`);
  assert.equal(await heard(), "ok");
});

test("what goes by a zone that this program doesn't know is named, here and in the log", async (t) => {
  const b = await box(t);
  await b.project("shop");
  const beat = { name: "backup", cron: "0 3 * * *", timezone: "UTC" };
  assert.equal((await b.api("POST", "/v1/projects/shop/heartbeats", beat)).status, 201);
  b.tenant.store.write(
    (tx) => void tx.sql("UPDATE heartbeats SET timezone = 'Europe/Atlantis'").run(),
  );
  const fault = faultOf(await look(b), "time zones");
  assert.match(
    fault.detail,
    /^Europe\/Atlantis is an unknown time zone: .*: heartbeat shop \/ backup$/,
  );
  const warned: unknown[] = [];
  const log = { warn: (facts: object) => warned.push(facts) } as unknown as Log;
  assert.equal(await zonesJob({ store: b.tenant.store, log }).run(unixSeconds(b.clock)), null);
  assert.deepEqual(warned, [{ zone: "Europe/Atlantis", used: ["heartbeat shop / backup"] }]);
});
