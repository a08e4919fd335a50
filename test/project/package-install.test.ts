import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { needs } from "../support/commands.ts";
import { scratch } from "../support/scratch.ts";

const folder = join(import.meta.dirname, "../../systemd");

/**
 * What the package does after it is unpacked, on a machine below a directory: systemctl itself decides there what is enabled.
 * Returns what was asked of the running systemd.
 */
function install(t: TestContext, { preset, before = "" }: { preset?: string; before?: string }) {
  const machine = scratch(t);
  const at = (path: string) => join(machine, path);
  for (const name of [
    "bin",
    "run/systemd/system",
    "usr/lib/systemd/system",
    "etc/systemd/system-preset",
  ])
    mkdirSync(at(name), { recursive: true });
  for (const unit of ["box.service", "box-hosted.service"])
    copyFileSync(join(folder, unit), at(`usr/lib/systemd/system/${unit}`));
  if (preset !== undefined) writeFileSync(at("etc/systemd/system-preset/50-box.preset"), preset);
  const stands = {
    systemctl: `case "$*" in
  *preset*|*is-enabled*) exec ${systemctl} --root=${machine} "$@" ;;
  *) echo "$*" ;;
esac`,
    getent: "exit 2",
    useradd: "exit 0",
    install: "exit 0",
  };
  for (const [name, script] of Object.entries(stands))
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const script = readFileSync(join(folder, "debian/postinst"), "utf8").replaceAll(
    "/run/",
    `${machine}/run/`,
  );
  const done = spawnSync("sh", ["-c", script, "postinst", "configure", before], {
    env: { PATH: `${at("bin")}:/usr/bin:/bin` },
    encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
  const { stdout } = spawnSync(systemctl, [`--root=${machine}`, "is-enabled", "box.service"], {
    encoding: "utf8",
  });
  return { asked: done.stdout.trim().split("\n"), isEnabled: stdout.trim() === "enabled" };
}

const systemctl = "/usr/bin/systemctl";

test("a new installation enables and starts the box", needs("systemctl"), (t) => {
  const { asked, isEnabled } = install(t, {});
  assert.deepEqual(asked, ["daemon-reload", "start box.service"]);
  assert.ok(isEnabled);
});

test(
  "where the machine's preset disables the box, none is enabled or started",
  needs("systemctl"),
  (t) => {
    const { asked, isEnabled } = install(t, { preset: "disable box.service\n" });
    assert.deepEqual(asked, ["daemon-reload"]);
    assert.ok(!isEnabled);
  },
);

test("an upgrade restarts what runs, and enables nothing", needs("systemctl"), (t) => {
  const { asked, isEnabled } = install(t, { before: "1.0.0" });
  assert.deepEqual(asked, ["daemon-reload", "try-restart box.service box-hosted.service"]);
  assert.ok(!isEnabled);
});
