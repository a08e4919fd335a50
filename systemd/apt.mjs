/**
 * An apt repository of a release: what `apt-get upgrade` reads. It is a folder for any web server, and is made only where
 * somebody signs it, because apt takes no other. The same release and key give the same bytes.
 */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { debianArch } from "./deb.mjs";
import { BuildError } from "./executable.mjs";

const SUITE = "stable";
const COMPONENT = "main";

/**
 * Writes the repository to `folder`. `debs`: `{ name, bytes, control }`, where `control` is the package's own. `time`: Unix
 * seconds. `key`: which key of gpg's signs, as gpg names it. Throws BuildError.
 */
export function aptRepository(folder, { debs, time, key }) {
  const dists = path.join(folder, "dists", SUITE);
  const lists = [];
  const put = (name, bytes) => {
    fs.mkdirSync(path.dirname(path.join(dists, name)), { recursive: true });
    fs.writeFileSync(path.join(dists, name), bytes);
    lists.push({ name, bytes });
  };
  const pool = path.join("pool", COMPONENT, "box");
  fs.mkdirSync(path.join(folder, pool), { recursive: true });
  for (const { name, bytes } of debs) fs.writeFileSync(path.join(folder, pool, name), bytes);
  const architectures = Object.values(debianArch);
  for (const arch of architectures) {
    const own = debs.filter(({ control }) => control.includes(`\nArchitecture: ${arch}\n`));
    const packages = Buffer.from(own.map((deb) => stanza(deb, pool)).join("\n"));
    const place = `${COMPONENT}/binary-${arch}/Packages`;
    put(place, packages);
    put(`${place}.gz`, gzipSync(packages, { level: 9 }));
  }
  const release = [
    "Origin: box",
    "Label: box",
    `Suite: ${SUITE}`,
    `Codename: ${SUITE}`,
    `Date: ${new Date(time * 1000).toUTCString().replace("GMT", "UTC")}`,
    `Architectures: ${architectures.join(" ")}`,
    `Components: ${COMPONENT}`,
    "Description: box, a self-hosted alert appliance",
    "SHA256:",
    ...lists.map(({ name, bytes }) => ` ${hash("sha256", bytes, "hex")} ${bytes.length} ${name}`),
    "",
  ].join("\n");
  fs.writeFileSync(path.join(dists, "Release"), release);
  const sign = (...how) =>
    gpg(["--local-user", key, "--faked-system-time", `${time}!`, ...how], release);
  fs.writeFileSync(path.join(dists, "InRelease"), sign("--clearsign"));
  fs.writeFileSync(path.join(dists, "Release.gpg"), sign("--armor", "--detach-sign"));
  fs.writeFileSync(path.join(folder, "box.gpg"), gpg(["--export", key]));
}

/** Throws BuildError where gpg has no such key: before anything is built. */
export function mustSign(key) {
  gpg(["--list-secret-keys", key]);
}

const stanza = ({ name, bytes, control }, pool) =>
  `${control}Filename: ${pool}/${name}\nSize: ${bytes.length}\nSHA256: ${hash("sha256", bytes, "hex")}\n`;

function gpg(words, input = "") {
  const done = spawnSync("gpg", ["--batch", "--yes", "--quiet", ...words], { input });
  if (done.error) throw new BuildError("gpg is missing: install gnupg");
  if (done.status !== 0 || done.stdout.length === 0)
    throw new BuildError(
      `gpg didn't sign: ${String(done.stderr).trim() || "there is no such key"}`,
    );
  return done.stdout;
}
