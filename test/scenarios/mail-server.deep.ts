import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { createEgress } from "../../src/ground/kit/egress.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { without } from "../faults/tools.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { freePort } from "../support/free-port.ts";
import { headersOf } from "../support/mail.ts";
import { pem } from "../support/receiver.ts";
import { hostileTexts } from "../support/rooms.ts";
import { scratch } from "../support/scratch.ts";
import { pass, settle } from "../support/until.ts";

/** Pages by mail through Exim, Debian's mail server: TLS and a login, mailboxes that there are and that there aren't. */

const PASSWORD = "correct horse battery";

interface Exim {
  port: number;
  log(): string;
  /** Mails of a mailbox, oldest first. */
  mails(name: string): string[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function exim(t: TestContext): Promise<Exim> {
  const folder = scratch(t);
  const port = await freePort();
  for (const each of ["spool", "log", "mail"]) mkdirSync(join(folder, each));
  const certificate = join(folder, "cert.pem");
  writeFileSync(certificate, pem("good"));
  const config = join(folder, "exim.conf");
  writeFileSync(config, settings(folder, { port, certificate }));
  for (const each of [folder, certificate, config]) chmodSync(each, 0o755);
  assert.equal(spawnSync("chown", ["-R", "Debian-exim", folder]).status, 0);
  assert.equal(spawnSync("chown", ["root", config]).status, 0);
  let child: ReturnType<typeof spawn> | null = null;
  const stop = async () => {
    const gone = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGKILL");
    if (child !== null) await gone;
    child = null;
  };
  t.after(stop);
  const start = async () => {
    child = spawn("exim4", ["-bdf", "-q1m", "-C", config], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stderr?.on("data", (data) => (said += data));
    for (let i = 0; !(await listens(port)); i++) {
      if (i > 200 || child.exitCode !== null) throw new Error(`exim doesn't listen: ${said}`);
      await pause(50);
    }
  };
  await start();
  return {
    port,
    start,
    stop,
    log: () => readFileSync(join(folder, "log", "mainlog"), "utf8"),
    mails(name) {
      const file = join(folder, "mail", name);
      if (!existsSync(file)) return [];
      return readFileSync(file, "utf8")
        .split(/^From \S+ .*\n/m)
        .slice(1);
    },
  };
}

function settings(folder: string, { port, certificate }: { port: number; certificate: string }) {
  return `
primary_hostname = mail.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/spool/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
keep_environment =
tls_advertise_hosts = *
tls_certificate = ${certificate}
tls_privatekey = ${certificate}
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = rcpt
acl_smtp_data = data
message_size_limit = 1M
deliver_drop_privilege = true
begin acl
rcpt:
  deny !authenticated = *
       message = authentication first
  defer local_parts = busy
        message = try again later
  accept domains = example.org
         local_parts = ann
  deny message = no such mailbox
data:
  deny condition = \${if >{$max_received_linelength}{998}}
       message = a line is too long
  require verify = header_syntax
  accept
begin routers
local:
  driver = accept
  domains = example.org
  transport = file
begin transports
file:
  driver = appendfile
  file = ${folder}/mail/ann
  user = Debian-exim
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{box}}{eq{$auth3}{${PASSWORD}}}}}
  server_set_id = $auth2
`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

const skip =
  without("exim4") ||
  (process.getuid?.() === 0 ? false : "needs root: Exim delivers as its own user");

test("Exim takes codes and pages with STARTTLS and a login, and says which mailboxes there aren't", {
  skip,
}, async (t) => {
  const server = await exim(t);
  const box = await testBox({}, handClock(), silentLog, {
    egress: () =>
      createEgress({ clock: systemClock, rules: { role: "box" }, ca: [pem("authority")] }),
  });
  t.after(() => box.stop());
  const settings = {
    host: "localhost",
    port: String(server.port),
    from: "box@example.org",
    user: "box",
    password: PASSWORD,
  };
  const wrong = await box.api("PUT", "/v1/gateways/email", { ...settings, password: "wrong" });
  assert.deepEqual([wrong.status, wrong.body.error.code], [422, "gateway_refused"]);
  const put = await box.api("PUT", "/v1/gateways/email", settings);
  assert.equal(put.status, 200, JSON.stringify(put.body));

  const base = "/v1/accounts/me/contacts";
  const add = async (address: string) => {
    const { id } = (await box.api("POST", base, { kind: "email", address })).body;
    return { id, sent: (await box.api("POST", `${base}/${id}/verify`, {})).body.sent };
  };
  assert.deepEqual((await add("nobody@example.org")).sent, {
    ok: false,
    error: "smtp 550 after RCPT TO",
  });
  assert.deepEqual((await add("busy@example.org")).sent, {
    ok: false,
    error: "smtp 451 after RCPT TO",
  });
  const { id, sent } = await add("ann@example.org");
  assert.deepEqual(sent, { ok: true });
  const mail = await arrives(server, 1);
  const [code] = /\d{3} \d{3}/.exec(new Map(headersOf(crlf(mail))).get("Subject") ?? "") ?? [];
  const verified = await box.api("POST", `${base}/${id}/verify`, { code });
  assert.equal(verified.body.state, "verified");

  const token = await box.project("shop");
  const { accountId } = box.owner;
  const step = { after_minutes: 0, accounts: [accountId], schedules: [], repeat_minutes: 0 };
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "errors",
    identifier_keys: ["n"],
    escalations: [step],
  });
  const texts = [...hostileTexts, "x\r\nBcc: eve@evil.test\r\n\r\nbody"];
  for (const [n, text] of texts.entries()) {
    const message = text.slice(0, 60_000);
    await box.ingest(token, { message, level: 500, keys: { n: `${n}` } });
    await settle(box);
    await pass(box, 6, 6);
    const page = await arrives(server, n + 2);
    assert.match(page, /^Importance: high$/m);
    assert.ok(!headersOf(crlf(page)).some(([name]) => /^(bcc|cc)$/i.test(name)));
  }

  await server.stop();
  await box.ingest(token, { message: "while it was down", level: 500, keys: { n: "down" } });
  await settle(box);
  await server.start();
  await pass(box, 60, 20);
  assert.match(await arrives(server, texts.length + 2), /while it was down/);
});

/** What stands in a mailbox file, as it went over the wire. */
const crlf = (text: string) => text.replace(/\r?\n/g, "\r\n");

async function arrives(server: Exim, count: number): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const mails = server.mails("ann");
    if (mails.length >= count) return mails[count - 1] ?? "";
    await pause(50);
  }
  throw new Error(`no mail ${count}: there are ${server.mails("ann").length}\n${server.log()}`);
}
