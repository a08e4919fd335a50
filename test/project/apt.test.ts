import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
    const home = scratch(t);
    const at = (...path: string[]) => join(home, ...path);
    const { PATH } = process.env;
    const env = { ...process.env, PATH, GNUPGHOME: at("g"), LC_ALL: "C" };
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
    // A key signs nothing that is dated before it was made.
    const time = Math.floor(Date.now() / 1000) + 1;
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

    const places = [
      "state/lists/partial",
      "cache/archives/partial",
      "etc",
      "dpkg/info",
      "dpkg/updates",
    ];
    for (const place of [...places, "machine", "bin"]) mkdirSync(at(place), { recursive: true });
    const has = (name: string) =>
      `Package: ${name}\nStatus: install ok installed\nMaintainer: x\nArchitecture: amd64\nVersion: 99\nDescription: x\n`;
    const needed = ["libc6", "libstdc++6", "libgcc-s1", "libatomic1", "passwd"];
    writeFileSync(at("dpkg/status"), needed.map(has).join("\n"));
    // The package's own scripts run with these in place of the machine's.
    for (const name of ["getent", "useradd", "install", "systemctl"])
      writeFileSync(at("bin", name), "#!/bin/sh\n", { mode: 0o755 });
    env.PATH = `${at("bin")}:${PATH}`;
    const line = `deb [signed-by=${at("repository/box.gpg")}] file:${at("repository")} stable main\n`;
    writeFileSync(at("etc/sources.list"), line);
    const apt = (...words: string[]) =>
      run(
        "apt-get",
        ...[
          ...["-o", `Dir::State=${at("state")}`, "-o", `Dir::Cache=${at("cache")}`],
          ...["-o", `Dir::Etc=${at("etc")}`, "-o", `Dir::State::status=${at("dpkg/status")}`],
          ...["-o", "APT::Architecture=amd64", "-o", "APT::Architectures=amd64"],
          ...["-o", "APT::Sandbox::User=root", "-o", "Debug::NoLocking=1", "--assume-yes"],
          ...["-o", `DPkg::Options::=--admindir=${at("dpkg")}`],
          ...["-o", `DPkg::Options::=--instdir=${at("machine")}`],
          ...["-o", "DPkg::Options::=--force-script-chrootless"],
          ...["-o", "DPkg::Options::=--force-not-root", ...words],
        ],
      );
    const updated = () => {
      const { status, said } = apt("update", "-o", "APT::Update::Error-Mode=any");
      return status === 0 ? status : said;
    };
    const done = (...words: string[]) => {
      const { status, said } = apt(...words);
      assert.equal(status, 0, said);
    };
    const version = () => run(at("machine/usr/bin/box")).said.trim();
    assert.equal(updated(), 0);
    done("install", "box");
    assert.equal(version(), "1.0.0");
    const settings = at("machine/etc/box/box.env");
    const own = `${readFileSync(settings)}BOX_LISTEN=127.0.0.1:9090\n`;
    writeFileSync(settings, own);
    await release("1.1.0");
    assert.equal(updated(), 0);
    done("upgrade");
    assert.equal(version(), "1.1.0");
    assert.equal(readFileSync(settings, "utf8"), own, "settings stay");

    const keys = readFileSync(at("repository/box.gpg"));
    await release("6.6.6", "theirs");
    writeFileSync(at("repository/box.gpg"), keys);
    assert.match(String(updated()), /NO_PUBKEY|not signed/);
    assert.throws(() => repository.mustSign("nobody"), /gpg didn't sign/);
  },
);
