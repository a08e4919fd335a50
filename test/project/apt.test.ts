import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "../support/commands.ts";
import { scratch } from "../support/scratch.ts";

const root = join(import.meta.dirname, "../..");
const repository = await import(join(root, "systemd/apt.mjs"));
const deb = await import(join(root, "systemd/deb.mjs"));

test(
  "apt takes a release from its signed repository, then the next one, and nothing that another signed",
  needs("gpg", "apt-get", "xz"),
  async (t) => {
    // A key signs nothing that is dated before it was made.
    const time = Math.floor(Date.now() / 1000) + 1;
    const home = scratch(t);
    const at = (...path: string[]) => join(home, ...path);
    const env = { ...process.env, GNUPGHOME: at("g"), LC_ALL: "C" };
    const run = (program: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(program, words, {
        env,
        cwd: home,
        encoding: "utf8",
      });
      return { status, said: `${stdout}${stderr}` };
    };
    mkdirSync(env.GNUPGHOME, { mode: 0o700 });
    t.after(() => run("gpgconf", "--kill", "all"));
    for (const name of ["ours", "theirs"]) {
      const made = run(
        "gpg",
        ...["--batch", "--passphrase", "", "--quick-gen-key", name, "ed25519"],
      );
      assert.equal(made.status, 0, made.said);
    }
    process.env["GNUPGHOME"] = env.GNUPGHOME;
    t.after(() => delete process.env["GNUPGHOME"]);

    const release = async (version: string, key = "ours") => {
      const debs = [];
      for (const arch of ["x64", "arm64"]) {
        const made = await deb.debianPackage({
          root,
          box: Buffer.from(`#!/bin/sh\necho ${version}\n`),
          completion: "",
          texts: {},
          version,
          arch,
          time,
          compress: async (bytes: Buffer) => spawnSync("xz", ["--stdout"], { input: bytes }).stdout,
        });
        debs.push({ ...made, name: `box_${version}_${arch}.deb` });
      }
      repository.aptRepository(at("repository"), { debs, time, key });
      return readFileSync(at("repository/dists/stable/InRelease"), "utf8");
    };
    assert.equal(await release("1.0.0"), await release("1.0.0"), "the same bytes twice");

    for (const place of ["state/lists/partial", "cache/archives/partial", "etc", "dpkg"])
      mkdirSync(at(place), { recursive: true });
    writeFileSync(at("dpkg/status"), "");
    const line = `deb [signed-by=${at("repository/box.gpg")}] file:${at("repository")} stable main\n`;
    writeFileSync(at("etc/sources.list"), line);
    const apt = (...words: string[]) =>
      run(
        "apt-get",
        ...[
          ...["-o", `Dir::State=${at("state")}`, "-o", `Dir::Cache=${at("cache")}`],
          ...["-o", `Dir::Etc=${at("etc")}`, "-o", `Dir::State::status=${at("dpkg/status")}`],
          ...["-o", "APT::Architecture=amd64", "-o", "APT::Architectures=amd64"],
          ...["-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1", ...words],
        ],
      );
    const newest = () => {
      const update = apt("update", "-o", "APT::Update::Error-Mode=any");
      if (update.status !== 0) return update.said;
      // This looks at the package's size and sum.
      const { status, said } = apt("download", "box");
      assert.equal(status, 0, said);
      return readdirSync(home).filter((name) => name.endsWith(".deb"));
    };
    assert.deepEqual(newest(), ["box_1.0.0_amd64.deb"]);
    await release("1.1.0");
    assert.deepEqual(newest(), ["box_1.0.0_amd64.deb", "box_1.1.0_amd64.deb"]);

    const keys = readFileSync(at("repository/box.gpg"));
    await release("6.6.6", "theirs");
    writeFileSync(at("repository/box.gpg"), keys);
    assert.match(String(newest()), /NO_PUBKEY|not signed/);
    assert.throws(() => repository.mustSign("nobody"), /gpg didn't sign/);
  },
);
