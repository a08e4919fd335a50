import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import nodemailer from "nodemailer";
import { listAlerts } from "../../src/core/alerts/list.ts";
import { createRule } from "../../src/core/alerts/rules.ts";
import { createProject, getProject } from "../../src/core/projects/projects.ts";
import { ruleCreate } from "../../src/core/projects/rule.ts";
import { createSource } from "../../src/core/projects/sources.ts";
import { without } from "../faults/tools.ts";
import { attachedMail, cronMail, mdadmMail } from "../in/adapters/mails.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { boxProcess } from "../support/box-process.ts";
import { freePort } from "../support/free-port.ts";
import { linesOf } from "../support/kept-lines.ts";
import { program } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { handOver, smtpTalk } from "../web/intake/smtp-client.ts";
import { startAlertmanager } from "./programs.ts";

const run = promisify(execFile);
const fixtures = join(import.meta.dirname, "../fixtures");
const certificate = join(fixtures, "localhost.crt");

let box: TestBox;
let key = "";
let port = 0;
before(async () => {
  port = await freePort();
  box = await testBox({
    smtp: [`127.0.0.1:${port}`],
    tlsCert: certificate,
    tlsKey: join(fixtures, "localhost.key"),
  });
  key = box.tenant.store.write((tx) => {
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const { name, ...body } = ruleCreate.parse({ name: "all" });
    createRule(tx, project, { name, body });
    const source = { name: "mail", kind: "email", retainLogs: true, room: "source" as const };
    return createSource(tx, project, { tenantId: box.tenant.id, ...source }).short_token ?? "";
  });
});
after(() => box.stop());

/** The lines that came, as `level message`. */
function lines(): string[] {
  box.tenant.ingest.drain();
  return linesOf(box.tenant.store);
}

const alerts = () => listAlerts(box.tenant.store, { limit: 100 }).alerts;

test("nodemailer: with STARTTLS, a login, one connection for many, text and HTML and a picture", async () => {
  const open = (more: object) =>
    nodemailer.createTransport({
      host: "127.0.0.1",
      port,
      tls: { rejectUnauthorized: false },
      ...more,
    });
  const mail = { from: "shop@example.com", to: `alerts+${key}@box`, text: "It stands still." };
  const plain = open({ ignoreTLS: true });
  await plain.sendMail({ ...mail, subject: "Checkout failed – plain" });
  const pooled = open({ requireTLS: true, pool: true, maxConnections: 1 });
  await Promise.all(
    [1, 2, 3].map((n) => pooled.sendMail({ ...mail, subject: `Checkout of shop ${n} failed` })),
  );
  pooled.close();
  const login = open({ requireTLS: true, auth: { user: "anyone", pass: key } });
  const sent = await login.sendMail({
    ...mail,
    to: "ops@example.com",
    subject: "Käse ist alle ✓",
    priority: "high",
    html: "<p>It stands <b>still</b>.</p>",
    attachments: [{ filename: "a.png", content: Buffer.from("iVBORw0KGgo=", "base64") }],
  });
  assert.match(sent.response, /^250 2\.6\.0 /);
  await assert.rejects(plain.sendMail({ ...mail, to: "ops@example.com" }), { responseCode: 550 });
  const wrong = open({ auth: { user: "anyone", pass: "nothing" } });
  await assert.rejects(wrong.sendMail(mail), { responseCode: 535 });
  const all = lines();
  for (const line of [
    "400 Checkout failed – plain",
    ...[1, 2, 3].map((n) => `400 Checkout of shop ${n} failed`),
    "400 Käse ist alle ✓",
  ])
    assert.ok(all.includes(line), line);
  const titles = alerts().map(({ title }) => title);
  for (const title of ["Checkout failed – plain", "Käse ist alle ✓"])
    assert.equal(titles.filter((one) => one === title).length, 1, title);
});

test("curl: a file, with STARTTLS and a login", { skip: without("curl") }, async (t) => {
  const file = join(scratch(t), "mail.eml");
  const url = ["--url", `smtp://localhost:${port}`, "--connect-to", `::127.0.0.1:${port}`];
  const from = ["-sS", "--mail-from", "a@example.com", "--upload-file", file];
  writeFileSync(file, mdadmMail());
  await run("curl", [...url, ...from, "--mail-rcpt", `${key}@box`]);
  assert.ok(lines().includes("400 DegradedArray event on /dev/md0:nas-02"));
  writeFileSync(file, attachedMail());
  const safe = ["--ssl-reqd", "--cacert", certificate, "--user", `camera:${key}`];
  await run("curl", [...url, ...from, ...safe, "--mail-rcpt", "root@localhost"]);
  assert.ok(lines().includes("400 Motion at the back door"));
});

test("msmtp, which cron and mdadm hand their mails to", { skip: without("msmtp") }, async (t) => {
  const folder = scratch(t);
  const config = join(folder, "msmtprc");
  const account = `account default\nhost 127.0.0.1\nport ${port}\nfrom root@web-01\n`;
  writeFileSync(config, account, { mode: 0o600 });
  const hand = (mail: string, ...to: string[]) =>
    new Promise<number | null>((resolve) => {
      const child = spawn("msmtp", ["-C", config, ...to], { stdio: ["pipe", "ignore", "ignore"] });
      child.on("close", resolve);
      child.stdin.end(mail.replaceAll("\r\n", "\n"));
    });
  assert.equal(await hand(cronMail(`alerts+${key}@localhost`), "-t"), 0);
  assert.ok(lines().includes("300 Cron <root@web-01> /usr/local/bin/backup"));
  const found = alerts().filter(({ title }) => title.includes("/usr/local/bin/backup"));
  assert.deepEqual(
    found.map(({ title, labels }) => [title, labels["from"]]),
    [["Cron <root@web-01> /usr/local/bin/backup", "Cron Daemon <root@web-01.example.com>"]],
  );
  assert.notEqual(await hand(cronMail(), "someone@example.com"), 0);
});

test("Alertmanager's own mails: fire, repeat, resolve are one alert", {
  skip: without("prometheus-alertmanager"),
}, async (t) => {
  const email = {
    to: `alerts+${key}@box`,
    from: "am@example.com",
    smarthost: `127.0.0.1:${port}`,
    require_tls: false,
    send_resolved: true,
  };
  const { address, said } = await startAlertmanager(t, {
    folder: scratch(t),
    interval: "1s",
    receivers: [{ name: "box", email_configs: [email] } as { name: string }],
  });
  t.after(() => {
    if (!t.passed) t.diagnostic(said());
  });
  const tell = async (more: object) => {
    const labels = { alertname: "HostDown", instance: "web-01", severity: "critical" };
    const body = JSON.stringify([{ labels, annotations: { summary: "web-01 is gone" }, ...more }]);
    const headers = { "content-type": "application/json" };
    return fetch(`http://${address}/api/v2/alerts`, { method: "POST", headers, body });
  };
  for (;;) {
    const answer = await tell({}).catch(() => null);
    if (answer?.ok) break;
    await pause(100);
  }
  const found = () => alerts().filter(({ last_message }) => last_message.includes("HostDown"));
  await until(() => (found()[0]?.count ?? 0) >= 2, "it fires and repeats");
  assert.match(found()[0]?.last_message ?? "", /^\[FIRING:1\] /);
  assert.equal(found()[0]?.state, "open");
  assert.match(found()[0]?.title ?? "", /HostDown/);
  await tell({ endsAt: new Date(Date.now() - 1000).toISOString() });
  await until(() => found()[0]?.state === "resolved", "it ends");
  assert.equal(found().length, 1);
  const details = found()[0]?.details;
  assert.match(details ?? "", /web-01 is gone/);
});

test("killed right after its 250 the event is there; what was told no comes again and is there once", async (t) => {
  const smtp = await freePort();
  const killed = boxProcess(["/usr/bin/env", `BOX_SMTP=127.0.0.1:${smtp}`, ...(await program())]);
  t.after(() => killed.discard());
  await killed.start();
  await killed.api.need("POST", "/v1/projects", { name: "p" });
  await killed.api.need("POST", "/v1/projects/p/rules", { name: "all" });
  const source = { name: "mail", kind: "email" };
  const { short_token } = await killed.api.need("POST", "/v1/projects/p/sources", source);
  const to = `alerts+${String(short_token)}@box`;
  const talk = await smtpTalk({ host: "127.0.0.1", port: smtp });
  assert.match(await handOver(talk, { to, data: cronMail(to) }), /^250/);
  await killed.kill();
  await talk.closed;

  // As a mail program does: it keeps the mail until somebody says 250.
  const mailer = nodemailer.createTransport({ host: "127.0.0.1", port: smtp, ignoreTLS: true });
  let tries = 0;
  const queued = (async () => {
    for (;;) {
      tries++;
      const sent = await mailer
        .sendMail({ from: "a@b.example", to, subject: "While it was down" })
        .catch(() => null);
      if (sent !== null) return;
      await pause(50);
    }
  })();
  await until(() => tries >= 3, "it is tried");
  await killed.start();
  await queued;
  const { alerts: open } = await killed.api.need("GET", "/v1/alerts?project=p");
  const told = (open as { last_message: string; count: number }[]).map(
    ({ last_message, count }) => `${last_message} ${count}`,
  );
  assert.deepEqual(told.sort(), [
    "Cron <root@web-01> /usr/local/bin/backup 1",
    "While it was down 1",
  ]);
});
