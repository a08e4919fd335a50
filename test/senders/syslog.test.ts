import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { listAlerts } from "../../src/core/alerts/list.ts";
import { createRule } from "../../src/core/alerts/rules.ts";
import { createProject, getProject } from "../../src/core/projects/projects.ts";
import { ruleCreate } from "../../src/core/projects/rule.ts";
import { createSource } from "../../src/core/projects/sources.ts";
import { syslog } from "../../src/in/adapters/syslog.ts";
import { without } from "../faults/tools.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { freePort } from "../support/free-port.ts";
import { linesOf } from "../support/kept-lines.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { startSender } from "./programs.ts";

const run = promisify(execFile);
const RSYSLOGD = "/usr/sbin/rsyslogd";
const fixtures = join(import.meta.dirname, "../fixtures");
const certificate = join(fixtures, "localhost.crt");
const skip = without("logger", RSYSLOGD);

let box: TestBox;
let token: string;
let tcp = 0;
before(async () => {
  tcp = await freePort();
  box = await testBox({
    syslogUdp: ["127.0.0.1:0=net/it"],
    syslogTcp: [`127.0.0.1:${tcp}`, "127.0.0.1:0=net/it"],
    syslogTls: ["127.0.0.1:0=net/it"],
    tlsCert: certificate,
    tlsKey: join(fixtures, "localhost.key"),
  });
  token = box.tenant.store.write((tx) => {
    createProject(tx, "net");
    const source = { name: "it", kind: "syslog", retainLogs: true };
    const { name, ...body } = ruleCreate.parse({ name: "errors", match: { min_level: 400 } });
    createRule(tx, getProject(tx, "net"), { name, body });
    const made = createSource(tx, getProject(tx, "net"), { tenantId: box.tenant.id, ...source });
    return made.short_token ?? "";
  });
});
after(() => box.stop());

const portOf = (i: number) => String(box.ports[i]?.port);

/** The lines that came, as `level message`. */
function lines(): string[] {
  box.tenant.ingest.drain();
  return linesOf(box.tenant.store);
}

/** The one alert of this title, with what its sender said of it. */
function alertIs(title: string, labels: Readonly<Record<string, string>>): void {
  const all = listAlerts(box.tenant.store, { limit: 100 }).alerts;
  const found = all.filter((one) => one.title === title);
  assert.equal(found.length, 1, `${title}: ${all.map((one) => one.title).join(" | ")}`);
  assert.partialDeepStrictEqual(found[0]?.labels, labels);
}

const comes = (line: string) => until(() => lines().includes(line), line);

test("logger: both standards by UDP, both framings by TCP", { skip }, async () => {
  const at = ["-n", "127.0.0.1", "-t", "web", "--id=7", "-p", "daemon.err"];
  await run("logger", [...at, "-d", "-P", portOf(0), "--rfc3164", "by 3164"]);
  await comes("400 web: by 3164");
  await run("logger", [...at, "-d", "-P", portOf(0), "--rfc5424", "by 5424"]);
  await comes("400 web: by 5424");
  await run("logger", [...at, "-T", "-P", portOf(2), "by line"]);
  await comes("400 web: by line");
  await run("logger", [...at, "-T", "-P", portOf(2), "--octet-count", "counted"]);
  await comes("400 web: counted");
  const data = ["--sd-id", `${token}@41058`, "--sd-param", 'a="b"'];
  await run("logger", [...at, "-T", "-P", portOf(1), "--rfc5424", ...data, "by its token"]);
  await comes("400 web: by its token");
  const of = { host: hostname(), app: "web", facility: "daemon" };
  // The first two are one alert, called as its last message.
  for (const said of ["by 5424", "by line", "counted", "by its token"]) alertIs(`web: ${said}`, of);
});

test("rsyslog: as its set-up text says, by UDP and TLS; and what it says while the box is down comes after", {
  skip,
}, async (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, "work"));
  const socket = join(folder, "log");
  const { paste } = syslog.setUp({ base: "http://127.0.0.1:8080", token: "", shortToken: token });
  const hasTls = existsSync("/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_gtls.so");
  const config = [
    `global(workDirectory="${join(folder, "work")}" defaultNetstreamDriverCAFile="${certificate}")`,
    'module(load="imuxsock" SysSock.Use="off")',
    `input(type="imuxsock" Socket="${socket}")`,
    paste.replace('port="6514"', `port="${tcp}"`).replace('Interval="5"', 'Interval="1"'),
    `if $msg contains "everywhere" then {`,
    `action(type="omfwd" target="127.0.0.1" port="${portOf(0)}" protocol="udp")`,
    hasTls
      ? `action(type="omfwd" target="127.0.0.1" port="${portOf(3)}" protocol="tcp" StreamDriver="gtls" StreamDriverMode="1" StreamDriverAuthMode="anon")`
      : "",
    "}",
  ];
  writeFileSync(join(folder, "conf"), `${config.join("\n")}\n`);
  const files = ["-f", join(folder, "conf"), "-i", join(folder, "pid")];
  const sender = startSender(t, RSYSLOGD, ["-n", "-C", ...files]);
  t.after(() => {
    if (!t.passed) t.diagnostic(`${sender.said()}\n${lines().join("\n")}`);
  });
  await until(() => existsSync(socket), "rsyslogd listens");
  const say = (text: string) => run("logger", ["-u", socket, "-t", "db", "-p", "kern.crit", text]);

  await say("everywhere at once");
  const ways = hasTls ? 3 : 2;
  const count = () => lines().filter((line) => line === "500 db: everywhere at once").length;
  await until(() => count() === ways, `it comes by ${ways} ways`);
  if (!hasTls) t.diagnostic("no TLS: needs rsyslog-gnutls");

  await box.restart(() => say("while it was down"));
  await comes("500 db: while it was down");
  for (const said of ["everywhere at once", "while it was down"])
    alertIs(`db: ${said}`, { app: "db" });
});
