import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { AGAIN_MS } from "../../src/app/box-standby.ts";
import { needs } from "../support/commands.ts";
import { scratch } from "../support/scratch.ts";

const folder = path.join(import.meta.dirname, "../../systemd");
const units = ["box.service", "box-hosted.service"];
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

/** The values a unit gives to a setting, in order. */
function settings(unit: string, name: string): string[] {
  return readFileSync(path.join(folder, unit), "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

for (const unit of units) {
  test(`${unit} exposes little`, {
    skip: hasSystemd ? false : "systemd-analyze is missing",
  }, () => {
    const words = ["security", "--offline=true", "--no-pager", "--threshold=15", unit];
    const judged = spawnSync("systemd-analyze", words, { cwd: folder, encoding: "utf8" });
    assert.equal(judged.status, 0, judged.stdout.split("\n").at(-2) ?? "");
  });

  test(`${unit} restarts what a restart can cure, within limits`, () => {
    assert.deepEqual(settings(unit, "Restart"), ["always"]);
    assert.deepEqual(settings(unit, "RestartPreventExitStatus"), ["2 65 78"]);
    assert.ok(Number(settings(unit, "StartLimitBurst")[0]) > 0);
    assert.ok(Number(settings(unit, "StartLimitIntervalSec")[0]) > 0);
  });

  test(`${unit} comes before other programs where these use up the machine`, () => {
    for (const weight of ["CPUWeight", "IOWeight"]) assert.ok(Number(settings(unit, weight)) > 100);
    assert.ok(Number(settings(unit, "OOMScoreAdjust")) < 0);
  });

  test(`${unit} keeps little memory of threads that have ended`, () => {
    assert.ok(settings(unit, "Environment").includes("MALLOC_ARENA_MAX=2"));
  });

  test(`${unit} is told to be ready and well by its own process alone`, () => {
    assert.deepEqual(settings(unit, "Type"), ["notify"]);
    assert.deepEqual(settings(unit, "NotifyAccess"), ["main"]);
    assert.ok(Number(settings(unit, "WatchdogSec")[0]) > 0);
  });
}

test("a machine that can't upgrade the box is started again each time", () => {
  const [burst = 0, interval = 0, pause = 0] = [
    "StartLimitBurst",
    "StartLimitIntervalSec",
    "RestartSec",
  ].map((name) => Number(settings("box.service", name)[0]));
  // It ends the first time without having stood by.
  assert.ok((burst - 1) * (AGAIN_MS / 1000 + pause) > interval);
});

test("the two units differ only in what they serve, where, and how much they may take", () => {
  const lines = units.map((unit) => readFileSync(path.join(folder, unit), "utf8").split("\n"));
  const [box = [], hosted = []] = lines;
  const own =
    /^(#|(Description|EnvironmentFile|Environment|ExecStart|TimeoutStartSec|StateDirectory|CacheDirectory|MemoryMax|LimitNOFILE)=)/;
  const common = (all: string[]) => all.filter((line) => !own.test(line));
  assert.deepEqual(common(hosted), common(box));
});

test(
  "haproxy takes the sample, which speaks TLS and sends again only what boxes say",
  needs("haproxy", "openssl"),
  (t) => {
    const text = readFileSync(path.join(folder, "haproxy.cfg"), "utf8");
    const place = scratch(t);
    const certificate = path.join(place, "pager.pem");
    const file = path.join(place, "haproxy.cfg");
    const asked = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      "/CN=pager.example.com",
    ];
    const made = spawnSync("openssl", [
      ...asked,
      "-keyout",
      certificate,
      "-out",
      `${certificate}.chain`,
    ]);
    assert.equal(made.status, 0);
    appendFileSync(certificate, readFileSync(`${certificate}.chain`));
    writeFileSync(file, text.replace("/etc/haproxy/pager.pem", certificate));
    const judged = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
    assert.equal(judged.status, 0, judged.stderr);
    const binds = text.match(/^ +bind .*/gm) ?? [];
    assert.ok(binds.length === 1 && binds[0]?.includes(" ssl crt "), binds.join());
    const sections = text.split(/\n(?=\w)/);
    const again = sections.filter((text) => /^ +retry-on .*empty-response/m.test(text));
    assert.deepEqual(
      again.map((text) => text.split("\n")[0]),
      ["backend relay"],
    );
    assert.match(sections.join("\n"), /^ +use_backend relay if \{ path_beg \/v1\/relay\/ \}$/m);
  },
);

test(
  "haproxy takes the sample for a box, which asks each machine for its role",
  needs("haproxy"),
  () => {
    const file = path.join(folder, "haproxy-box.cfg");
    const judged = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
    assert.equal(judged.status, 0, judged.stderr);
    assert.match(readFileSync(file, "utf8"), /^ +option httpchk GET \/v1\/role$/m);
  },
);
