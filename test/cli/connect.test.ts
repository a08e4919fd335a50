import assert from "node:assert/strict";
import type { BoxFlags } from "../../src/app/config.ts";
import { adapters } from "../../src/in/adapters/list.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { long, test } from "../support/long.ts";
import { handOver, smtpTalk } from "../web/intake/smtp-client.ts";

async function scene(t: { after(fn: () => Promise<void>): void }, flags: BoxFlags = {}) {
  const served = await testBox(flags, handClock(Date.now()));
  t.after(() => served.stop());
  await served.api("POST", "/v1/projects", { name: "shop" });
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const box = (...words: string[]) => run(words, { env });
  const rules = async () => (await served.api("GET", "/v1/projects/shop/rules")).body.rules;
  return { served, box, rules };
}

const group = {
  alerts: [
    {
      status: "firing",
      labels: { alertname: "DiskFull", severity: "critical", instance: "db-01" },
      annotations: { summary: "Disk of db-01 is full" },
      startsAt: new Date(Date.now() - 60_000).toISOString(),
      fingerprint: "0123456789abcdef",
    },
  ],
};

test("a sender is connected with one command: source, rule, text to paste, and what became of its first event", async (t) => {
  const { served, box, rules } = await scene(t);
  const waiting = box("connect", "alertmanager", "--project", "shop", "--wait");
  let made: { name: string; match: { sources: string[]; min_level: number } }[] = [];
  while (made.length === 0) made = await rules();
  assert.deepEqual(made[0]?.match, {
    min_level: 400,
    sources: ["alertmanager"],
    tags: [],
    template_contains: "",
  });
  const key = served.owner.key;
  const { body } = await served.api(
    "POST",
    "/v1/projects/shop/sources/alertmanager/rotate-token",
    undefined,
    key,
  );
  const sent = await fetch(`${served.url}/v1/in/alertmanager/${body.token}`, {
    method: "POST",
    body: JSON.stringify(group),
  });
  assert.equal(sent.status, 200);
  const { code, out } = await waiting;
  assert.equal(code, 0);
  assert.match(out, /^Made the source alertmanager\. Made the rule alertmanager, because no rule/);
  assert.match(out, new RegExp(`url: '${served.url}/v1/in/alertmanager'`));
  assert.match(out, /credentials: pti_[0-9a-f]{16}_[0-9A-Za-z]{43}\n/);
  assert.match(
    out,
    /\nfirst event: .*Disk of db-01 is full\ntemplate: Disk of .* is full\nrules: alertmanager; alert 1, which pages owner@example\.org\n$/,
  );
});

test("a sender that names no alerts has one for each host; what tells more apart is proposed by its first event", async (t) => {
  const { served, box, rules } = await scene(t);
  const syslog = JSON.parse((await box("connect", "syslog", "--project", "shop", "--json")).out);
  assert.deepEqual((await rules())[0].identifier_keys, ["host"]);
  assert.equal(
    syslog.set_up.notes[0],
    "What makes two alerts two: another template of the message, another host.",
  );
  const lines = ["db7", "db8", "db7"].map(
    (host) => `<27>1 2026-01-05T09:00:00Z ${host} sshd - - - disk full\n`,
  );
  const sent = await fetch(`${served.url}/v1/in/syslog/${syslog.token}`, {
    method: "POST",
    body: lines.join(""),
  });
  assert.equal(sent.status, 204);
  const { alerts } = (await served.api("GET", "/v1/alerts")).body;
  const counts = alerts.map(({ identifiers, count }: Record<string, unknown>) => [
    identifiers,
    count,
  ]);
  assert.deepEqual(counts.reverse(), [
    [{ host: "db7" }, 2],
    [{ host: "db8" }, 1],
  ]);

  const hook = JSON.parse((await box("connect", "hook", "--project", "shop", "--json")).out);
  const made = (await rules()).find(({ name }: { name: string }) => name === "hook");
  assert.deepEqual(made.identifier_keys, [], "each sender has labels of its own");
  const waiting = box("connect", "hook", "--project", "shop", "--name", "nas", "--wait");
  const heard = async (name: string) =>
    (await served.api("GET", `/v1/projects/shop/sources/${name}/heard`)).body.heard;
  await fetch(`${served.url}/v1/in/hook/${hook.token}`, {
    method: "POST",
    body: JSON.stringify({ message: "pool degraded", severity: "error", host: "nas1" }),
  });
  assert.deepEqual((await heard("hook")).proposes, { rules: ["hook"], identifier_keys: ["host"] });
  let nas = { status: 404, body: { token: "" } };
  while (nas.status !== 200)
    nas = await served.api(
      "POST",
      "/v1/projects/shop/sources/nas/rotate-token",
      undefined,
      served.owner.key,
    );
  await fetch(`${served.url}/v1/in/hook/${nas.body.token}`, {
    method: "POST",
    body: JSON.stringify({ message: "pool degraded", severity: "error", monitor: "pool" }),
  });
  assert.match(
    (await waiting).out,
    /its labels name what it is about: with monitor in identifier_keys of nas \(box rule set\)/,
  );
});

test("a rule that may take what it sends is enough; a new one has the project's usual ladder", async (t) => {
  const { served, box, rules } = await scene(t);
  const ann = served.person("member", "ann@example.org").accountId;
  const escalations = [{ accounts: [ann], after_minutes: 5 }];
  await served.api("POST", "/v1/projects/shop/rules", {
    name: "other",
    match: { sources: ["elsewhere"] },
    escalations,
  });
  await box("connect", "grafana", "--project", "shop", "--level", "warn");
  const [made] = (await rules()).filter(({ name }: { name: string }) => name === "grafana");
  assert.equal(made.match.min_level, 300);
  assert.deepEqual(made.escalations[0].accounts, [ann]);
  await served.api("POST", "/v1/projects/shop/rules", { name: "all", match: { min_level: 500 } });
  const { out } = await box("connect", "grafana", "--project", "shop");
  assert.match(out, /^Made the source grafana 2\. Rules that may match its events: all\.\n/);
  assert.equal((await rules()).length, 3);
  const unknown = await box("connect", "nonsense", "--project", "shop");
  assert.match(unknown.err, /must be one of events, heartbeats, alertmanager/);
});

long(
  "every text to paste has the box's address in it, read by programs too, and lines are kept",
  async (t) => {
    const { served, box } = await scene(t);
    const { host } = new URL(served.url);
    for (const { kind } of adapters) {
      const { code, out } = await box("connect", kind, "--project", "shop", "--json");
      assert.equal(code, 0, kind);
      const { name, set_up } = JSON.parse(out);
      const text = [set_up.paste, ...set_up.notes].join("\n");
      assert.doesNotMatch(text, /\bHOST\b|(?<!path:|path_prefix:)(^|[\s'"=])\/v1\//m, kind);
      if (kind === "sentry")
        assert.match(
          set_up.paste,
          new RegExp(`^SENTRY_DSN=http://[0-9a-f]{32}@${host}/v1/in/sentry/1$`),
        );
      if (kind === "elasticsearch")
        assert.match(set_up.paste, new RegExp(`hosts: \\['http://${host}'\\]\n  path: /v1/in/`));
      const { sources } = (await served.api("GET", "/v1/projects/shop/sources")).body;
      const made = sources.find((source: { name: string }) => source.name === name);
      assert.equal(made.retain_logs, true, kind);
    }
    await box("connect", "loki", "--project", "shop", "--name", "quiet", "--no-lines");
    const { sources } = (await served.api("GET", "/v1/projects/shop/sources")).body;
    const quiet = sources.find(({ name }: { name: string }) => name === "quiet");
    assert.equal(quiet.retain_logs, false);
  },
);

test("that a warning opens nothing is said where the sender is connected", async (t) => {
  const { box } = await scene(t);
  const errors = await box("connect", "alertmanager", "--project", "shop");
  assert.match(errors.out, /severity: warning\) opens no alert.*--level warn/);
  const other = await scene(t);
  const warnings = await other.box(
    "connect",
    "alertmanager",
    "--project",
    "shop",
    "--level",
    "warn",
  );
  assert.doesNotMatch(warnings.out, /opens no alert/);
});

test("what it prints for jobs makes a heartbeat with its first call, and its failure is heard", async (t) => {
  const { served, box } = await scene(t);
  const { out } = await box("connect", "heartbeats", "--project", "shop", "--name", "jobs");
  const [, address = ""] = /"(http\S+\/)NAME\//.exec(out) ?? [];
  assert.equal((await fetch(`${address}backup/3?create=1`)).status, 201);
  const { heard } = (await served.api("GET", "/v1/projects/shop/sources/jobs/heard")).body;
  assert.equal(heard.message, "backup: failed with exit status 3");
  const again = await box("connect", "heartbeats", "--project", "shop");
  assert.match(again.err, /have a source already, jobs: add a heartbeat with box heartbeat add/);
  assert.deepEqual([heard.rules, heard.alert, heard.pages], [["jobs"], "1", ["owner@example.org"]]);
});

test("a sender of mail gets an address with its key; a rule from warnings up hears it, and its first mail is told", async (t) => {
  const { served, box, rules } = await scene(t, { smtp: ["127.0.0.1:0"] });
  const waiting = box("connect", "email", "--project", "shop", "--wait");
  while ((await rules()).length === 0) await new Promise((done) => setTimeout(done, 20));
  const [rule] = await rules();
  assert.deepEqual([rule.name, rule.match.min_level], ["email", 300]);
  const { body } = await served.api("POST", "/v1/projects/shop/sources/email/rotate-token");
  const talk = await smtpTalk(served.ports[0] ?? { host: "", port: 0 });
  const data = "From: ups@example.com\r\nSubject: UPS on battery\r\n\r\nx";
  assert.match(await handOver(talk, { to: `x+${body.short_token}@box`, data }), /^250/);
  talk.end();
  const { code, out } = await waiting;
  assert.equal(code, 0);
  assert.match(out, /^recipient: {2}alerts\+[0-9a-f]{32}@127\.0\.0\.1$/m);
  assert.match(out, /first event: .*UPS on battery\n.*\nrules: email; alert 1, which pages owner@/);
});

test("every kind says what to paste, also at a box that wasn't told its address", async (t) => {
  const { served, box } = await scene(t);
  for (const { kind } of adapters) {
    const made = await served.api("POST", "/v1/projects/shop/connect", { kind });
    assert.equal(made.status, 201, `${kind}: ${JSON.stringify(made.body)}`);
  }
  const { out } = await box("connect", "prometheus", "--project", "shop", "--name", "again");
  assert.match(out, /scheme: http\n {4}path_prefix: \/v1\/in\/prometheus\n/);
  assert.ok(out.includes(`targets: ['${new URL(served.url).host}']`), out);
});
