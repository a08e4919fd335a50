import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { BuildError } from "./executable.mjs";

/** Emulator, and where Debian puts the C library it needs, for each foreign processor. */
const EMULATORS = {
  arm64: {
    program: "qemu-aarch64-static",
    library: "/usr/aarch64-linux-gnu",
    packages:
      "qemu-user-static libc6-arm64-cross libstdc++6-arm64-cross libgcc-s1-arm64-cross libatomic1-arm64-cross",
  },
};

/**
 * The locked Node for linux on `arch`, and the words by which this machine runs programs for it.
 * One for another processor is not installed, so its package is fetched, held against the lock
 * file's sum, and kept under dist.
 */
export async function runtimeFor(root, arch) {
  const name = `node-linux-${arch}`;
  if (process.platform === "linux" && process.arch === arch) {
    return { node: path.join(root, "node_modules", name, "bin/node"), run: [] };
  }
  return { node: fetched(root, name), run: emulator(arch) };
}

function emulator(arch) {
  const found = EMULATORS[arch];
  const has = found && spawnSync(found.program, ["--version"]).status === 0;
  if (!has || !fs.existsSync(path.join(found.library, "lib/libatomic.so.1"))) {
    throw new BuildError(`programs for ${arch} can't be run here: install ${found?.packages}`);
  }
  return [found.program, "-L", found.library];
}

function fetched(root, name) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const { version, integrity } = lock.packages[`node_modules/${name}`];
  const cache = path.join(root, "dist/.cache");
  const folder = path.join(cache, `${name}-${version}`);
  const node = path.join(folder, "package/bin/node");
  if (fs.existsSync(node)) return node;
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  run("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", cache], root);
  const tarball = path.join(cache, `${name}-${version}.tgz`);
  const sum = `sha512-${hash("sha512", fs.readFileSync(tarball), "base64")}`;
  if (sum !== integrity)
    throw new BuildError(`${name}-${version}.tgz isn't the one that is locked`);
  run("tar", ["-xzf", tarball, "-C", folder, "package/bin/node", "package/LICENSE"], root);
  fs.rmSync(tarball);
  return node;
}

function run(program, words, cwd) {
  const done = spawnSync(program, words, { cwd, stdio: ["ignore", "ignore", "inherit"] });
  if (done.status !== 0) throw new BuildError(`${program} ${words[0]} failed`);
}
