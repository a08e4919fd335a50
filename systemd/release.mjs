/**
 * dist/release: for each platform the executable, a tarball and a Debian package; sums of all, and
 * what it is made of. The same commit gives the same bytes twice. Runs on linux-x64; what is for
 * arm64 is built and tried in an emulator.
 */
import { spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { aptRepository, mustSign } from "./apt.mjs";
import { tar, withFolders } from "./archive.mjs";
import { billOfMaterials } from "./bill.mjs";
import { debianArch, debianPackage } from "./deb.mjs";
import { BuildError, buildExecutable, bundleAll, commitOf, versionOf } from "./executable.mjs";
import { image } from "./image.mjs";
import { noticesOf } from "./notices.mjs";
import { runtimeFor } from "./runtime.mjs";
import { smoke } from "./smoke.mjs";

/** xz filters. The one for x64 code saves a twentieth; the one for arm64 is too new for some dpkg. */
const XZ = {
  x64: ["--x86", "--lzma2=preset=6"],
  arm64: ["--lzma2=preset=6"],
};

/** What goes beside the executable into a tarball. */
const BESIDE = [
  "box.service",
  "box-hosted.service",
  "box.env",
  "hosted.env",
  "haproxy.cfg",
  "haproxy-box.cfg",
];

/** `signer`: the key of gpg's that signs an apt repository; without it there is none. */
export async function release(root, { signer } = {}) {
  if (signer !== undefined) mustSign(signer);
  const out = path.join(root, "dist/release");
  fs.rmSync(out, { recursive: true, force: true });
  fs.mkdirSync(out, { recursive: true });
  const about = aboutOf(root);
  const written = [];
  const bundled = new Set();
  const debs = [];
  for (const arch of ["x64", "arm64"]) {
    const made = await releaseFor(arch, { root, out, about });
    written.push(...made.names);
    debs.push(made.deb);
    for (const file of made.inputs) bundled.add(file);
  }
  writeBill(path.join(out, "sbom.json"), billOfMaterials(root, about, bundled));
  written.push("sbom.json");
  const sums = written.sort().map((name) => {
    const bytes = fs.readFileSync(path.join(out, name));
    process.stdout.write(`${(bytes.length / 1e6).toFixed(1).padStart(7)} MB  ${name}\n`);
    return `${hash("sha256", bytes, "hex")}  ${name}\n`;
  });
  fs.writeFileSync(path.join(out, "SHA256SUMS"), sums.join(""));
  if (signer === undefined)
    return process.stdout.write("no apt repository: --sign KEY makes one\n");
  aptRepository(path.join(out, "apt"), { debs, time: about.time, key: signer });
}

/** dist/sbom.json alone, from what an executable would be made of: whether a release could name all of it. */
export async function bill(root) {
  const out = path.join(root, "dist");
  const work = path.join(out, ".bill");
  const made = billOfMaterials(root, aboutOf(root), await bundleAll(root, work));
  fs.rmSync(work, { recursive: true });
  writeBill(path.join(out, "sbom.json"), made);
  process.stdout.write(`dist/sbom.json names ${made.components.length} parts\n`);
}

const writeBill = (file, made) => fs.writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);

/** dist/image and dist/box-image.tar: the container image. */
export async function releaseImage(root) {
  const about = { ...aboutOf(root), source: sourceOf() };
  await image(root, { about, bill: (inputs) => billOfMaterials(root, about, new Set(inputs)) });
}

/** Where the sources lie, by the build's own setting: the project knows no address of its own. */
const sourceOf = () => process.env.BOX_SOURCE ?? "";

const aboutOf = (root) => ({
  version: versionOf(root),
  commit: commitOf(root),
  time: timeOf(root),
});

/** Seconds since the epoch that everything in the release is dated with. */
function timeOf(root) {
  if (process.env.SOURCE_DATE_EPOCH) return Number(process.env.SOURCE_DATE_EPOCH);
  const last = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  if (last.status !== 0) throw new BuildError("outside a git checkout, set SOURCE_DATE_EPOCH");
  return Number(last.stdout);
}

async function releaseFor(arch, { root, out, about: { version, time } }) {
  const { node, run } = await runtimeFor(root, arch);
  const output = path.join(out, `box-linux-${arch}`);
  const inputs = await buildExecutable({ root, output, node, arch, run });
  await smoke([...run, output], { version, seconds: run.length > 0 ? 300 : 20 });
  process.stdout.write(`box-linux-${arch}: starts, answers, ends\n`);
  const box = fs.readFileSync(output);
  const completion = outputOf([...run, output, "completion", "bash"]);
  const texts = {
    ...Object.fromEntries(
      ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"].map((name) => [
        name,
        fs.readFileSync(path.join(root, name), "utf8"),
      ]),
    ),
    ...guides(root),
    copyright: noticesOf(root, inputs, node),
  };
  const tarball = `box-${version}-linux-${arch}.tar.gz`;
  fs.writeFileSync(path.join(out, tarball), tarballOf({ root, box, texts, version, arch, time }));
  const deb = `box_${version.replace("-", "~")}_${debianArch[arch]}.deb`;
  const compress = (bytes) => xz(bytes, XZ[arch]);
  const contents = { root, box, completion, texts, version, arch, time, compress };
  const { bytes, control } = await debianPackage(contents);
  fs.writeFileSync(path.join(out, deb), bytes);
  const names = [path.basename(output), tarball, deb];
  return { names, inputs, deb: { name: deb, bytes, control } };
}

/** The documents that the README leads to, under the same names. */
function guides(root) {
  const all = fs.readdirSync(path.join(root, "docs"), { recursive: true });
  const names = all.filter((name) => name.endsWith(".md"));
  const read = (name) => fs.readFileSync(path.join(root, "docs", name), "utf8");
  return Object.fromEntries(names.sort().map((name) => [`docs/${name}`, read(name)]));
}

function outputOf([program, ...words]) {
  const done = spawnSync(program, words, { encoding: "utf8" });
  if (done.status !== 0) throw new BuildError(`${words.join(" ")}: ${done.error ?? done.stderr}`);
  return done.stdout;
}

function tarballOf({ root, box, texts, version, arch, time }) {
  const folder = `box-${version}-linux-${arch}`;
  const entries = [
    { name: `${folder}/box`, mode: 0o755, bytes: box },
    ...BESIDE.map((name) => ({
      name: `${folder}/${name}`,
      mode: 0o644,
      bytes: fs.readFileSync(path.join(root, "systemd", name)),
    })),
    ...Object.entries(texts).map(([name, text]) => ({
      name: `${folder}/${name}`,
      mode: 0o644,
      bytes: Buffer.from(text),
    })),
  ];
  return gzipSync(tar(withFolders(entries), time), { level: 9 });
}

/** xz and not zstd, because every dpkg reads it and it is smaller; one thread, for the same bytes. */
function xz(bytes, filters) {
  return new Promise((resolve, reject) => {
    const child = spawn("xz", ["--threads=1", "--stdout", ...filters], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.once("error", () => reject(new BuildError("xz is missing: install xz-utils")));
    child.once("close", (code) => {
      if (code === 0) resolve(Buffer.concat(parts));
      else reject(new BuildError(`xz ended with ${code}`));
    });
    child.stdin.on("error", () => {});
    child.stdin.end(bytes);
  });
}
