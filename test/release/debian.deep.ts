import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { debianRoot, noDebianRoot } from "./debian-root.ts";
import { emulated, noEmulator } from "./emulated.ts";
import { debianPackageOf } from "./release.ts";
import { story } from "./story.ts";

const noRoot = await noDebianRoot();

test("the package in a Debian that has nothing else", { skip: noRoot ?? false }, async (t) => {
  const debian = await debianRoot(await debianPackageOf("amd64"));
  t.after(debian.remove);
  const configured = readFileSync(debian.path("etc/box/box.env"), "utf8");
  await story(debian);

  assert.equal(readFileSync(debian.path("etc/box/box.env"), "utf8"), configured);
  const completion = "source /usr/share/bash-completion/completions/box; complete -p box";
  assert.match(await debian.run("bash", "-c", completion), /-F _box box/);
  assert.equal(await debian.run("stat", "-c", "%U %a", "/var/lib/box"), "box 700\n");
  const said = await debian.run("apt-get", "purge", "-q", "-y", "box");
  assert.match(said, /the data in \/var\/lib\/box is left in place/);
  assert.ok(readdirSync(debian.path("var/lib/box")).includes("box.db"));
  assert.ok(!existsSync(debian.path("etc/box")));
});

const noArm = await noEmulator();

test("the arm64 executable, emulated", { skip: noArm ?? false }, async (t) => {
  const machine = await emulated(await debianPackageOf("arm64"));
  t.after(machine.remove);
  await story(machine);
});
