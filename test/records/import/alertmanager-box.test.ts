import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { box as run } from "../../support/command-line.ts";
import { startReceiver } from "../../support/receiver.ts";
import { scratch } from "../../support/scratch.ts";

const config = (hook: string) => `
route:
  receiver: fallback
  routes:
    - matchers: [team=~"db|cache"]
      receiver: storage
      routes:
        - matchers: [severity="critical"]
          receiver: pager
    - matchers: [alertname=Watchdog]
      receiver: nobody
    - matchers: [team=office]
      receiver: fallback
      mute_time_intervals: [nights]
      active_time_intervals: [office]
receivers:
  - name: fallback
    webhook_configs: [{url: '${hook}/fallback'}]
  - name: storage
    webhook_configs: [{url: '${hook}/storage'}]
  - name: pager
    email_configs: [{to: ann@example.com, from: box@example.com, smarthost: 'mail.example.com:25', require_tls: false}]
  - name: nobody
time_intervals:
  - name: nights
    time_intervals: [{times: [{start_time: '18:00', end_time: '24:00'}, {start_time: '00:00', end_time: '09:00'}], location: Asia/Kolkata}]
  - name: office
    time_intervals: [{weekdays: ['monday:friday']}]
inhibit_rules:
  - source_matchers: [severity=critical]
    target_matchers: [severity=warning]
    equal: [team, cluster]
`;

test("an import is applied, and what Alertmanager sends opens alerts by the rules of its routes, silenced as it would silence them", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox({ egressAllow: ["127.0.0.0/8"] }, handClock(Date.now()));
  t.after(() => box.stop());
  const directory = scratch(t);
  const [given, silences, output, report] = [
    "alertmanager.yml",
    "silences.json",
    "box.yaml",
    "report.txt",
  ].map((name) => join(directory, name)) as [string, string, string, string];
  writeFileSync(given, config(receiver.url));
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const quiet = { matchers: [{ name: "cluster", value: "lab", isRegex: false, isEqual: true }] };
  writeFileSync(
    silences,
    JSON.stringify([{ ...quiet, startsAt: at(-1), endsAt: at(2), comment: "lab" }]),
  );
  const made = await run([
    "import",
    "alertmanager",
    given,
    silences,
    "--project",
    "prod",
    "--output",
    output,
    "--report",
    report,
  ]);
  assert.deepEqual([made.code, made.err], [0, ""]);

  const credentials = readFileSync(`${output}.env`, "utf8").matchAll(/^([A-Z_]+)=(.*)$/gm);
  const env = {
    BOX_URL: box.url,
    BOX_KEY: box.owner.key,
    ...Object.fromEntries([...credentials].map(([, name = "", value = ""]) => [name, value])),
  };
  const plan = await run(["config", "apply", "--dry-run", output], { env });
  assert.match(plan.out, /create rule pager: team=~"db\|cache", severity="critical"\n/, plan.err);
  const applied = await run(["config", "apply", output], { env });
  assert.equal(applied.code, 0, applied.err);
  const again = await run(["config", "apply", output], { env });
  assert.match(again.out, /applied 0 changes\n$/);
  const windows = (await box.api("GET", "/v1/silences")).body.silences;
  const [nightly = assert.fail()] = windows.filter(
    ({ repeat }: { repeat: string }) => repeat === "daily",
  );
  assert.equal(nightly.ends_at - nightly.starts_at, 15 * 3_600);
  const weekends = windows.filter(({ repeat }: { repeat: string }) => repeat === "weekly");
  assert.ok(weekends.every(({ timezone }: { timezone: string }) => timezone === "UTC"));
  // For the rules of that route: of warnings, of critical ones, of the rest.
  assert.deepEqual([windows.length, weekends.length], [6, 3]);
  const [, silence = ""] =
    /box api POST \/v1\/silences '(.*)'\n/.exec(readFileSync(report, "utf8")) ?? [];
  const silenced = await run(["api", "POST", "/v1/silences", silence], { env });
  assert.equal(silenced.code, 0, silenced.err);

  const token = /pti_\S+/.exec(applied.out)?.[0] ?? "";
  let n = 0;
  const send = async (labels: Record<string, string>) => {
    n += 1;
    const alert = { labels, status: "firing", startsAt: at(0), fingerprint: String(n) };
    const answer = await fetch(`${box.url}/v1/in/alertmanager`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ version: "4", receiver: "box", alerts: [alert] }),
    });
    assert.equal(answer.status, 200);
    return (await box.api("GET", "/v1/alerts")).body.alerts
      .filter(({ identifiers }: { identifiers: object }) => identifiers !== undefined)
      .map(({ rule, silenced_by }: { rule: string; silenced_by: string | null }) => [
        rule,
        (silenced_by ?? "").replace(/^(alert:)?[0-9a-f]+$/, "$1…"),
      ]);
  };
  const storage = 'storage: team=~"db|cache", severity="warning"';
  const pager = 'pager: team=~"db|cache", severity="critical"';
  const told = (...alerts: string[][]) => alerts;
  let all = await send({ alertname: "Down", team: "db", cluster: "eu", severity: "critical" });
  assert.deepEqual(all, told([pager, ""]));
  all = await send({ alertname: "Slow", team: "db", cluster: "eu", severity: "warning" });
  assert.deepEqual(all[0], [storage, "alert:…"]);
  all = await send({ alertname: "Slow", team: "db", cluster: "us", severity: "warning" });
  assert.deepEqual(all[0], [storage, ""]);
  all = await send({ alertname: "Slow", team: "cache", severity: "warning" });
  assert.deepEqual(all[0], [storage, ""]);
  all = await send({ alertname: "Slow", team: "web", severity: "warning" });
  assert.deepEqual(all[0], ['fallback: severity="warning"', ""]);
  all = await send({ alertname: "Down", team: "web", cluster: "lab", severity: "critical" });
  assert.deepEqual(all[0], ['fallback: severity="critical"', "…"]);
  assert.equal((await send({ alertname: "Watchdog", severity: "none" })).length, 6);
  await box.clock.turn(1_000);
  const hooks = await Promise.all([receiver.next(), receiver.next()]);
  assert.deepEqual(new Set(hooks.map(({ path }) => path)), new Set(["/fallback", "/storage"]));
});
