import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { ar, tar, withFolders } from "./archive.mjs";

/** Debian's names for processors. */
export const debianArch = { x64: "amd64", arm64: "arm64" };

/** Files an administrator may have changed: an upgrade asks before it replaces them. */
const CONFIGURATION = ["etc/box/box.env", "etc/box/hosted.env"];

/** Where bash looks when `box` is first completed. */
const COMPLETION = "usr/share/bash-completion/completions/box";

/** What the program is linked with, and `useradd`. better-sqlite3 sets the C library's version. */
const DEPENDS = "libc6 (>= 2.34), libstdc++6, libgcc-s1, libatomic1, passwd";

/**
 * A Debian package: its bytes, and its control file. `box`: the executable's bytes. `completion`: what it prints for bash. `texts`:
 * name → text of what goes under /usr/share/doc/box. `compress`: bytes → bytes, xz.
 */
export async function debianPackage(contents) {
  const { root, box, completion, texts, version, arch, time, compress } = contents;
  const from = (name) => fs.readFileSync(path.join(root, "systemd", name));
  const files = withFolders([
    { name: "./etc/box/box.env", mode: 0o640, bytes: from("box.env") },
    { name: "./etc/box/hosted.env", mode: 0o640, bytes: from("hosted.env") },
    { name: "./usr/bin/box", mode: 0o755, bytes: box },
    unit("box.service", from),
    unit("box-hosted.service", from),
    { name: "./usr/share/doc/box/haproxy.cfg", mode: 0o644, bytes: from("haproxy.cfg") },
    { name: "./usr/share/doc/box/haproxy-box.cfg", mode: 0o644, bytes: from("haproxy-box.cfg") },
    { name: `./${COMPLETION}`, mode: 0o644, bytes: Buffer.from(completion) },
    ...Object.entries(texts).map(([name, text]) => ({
      name: `./usr/share/doc/box/${name}`,
      mode: 0o644,
      bytes: Buffer.from(text),
    })),
  ]);
  const about = controlFile({ version, arch, files });
  const control = withFolders([
    { name: "./conffiles", mode: 0o644, bytes: lines(CONFIGURATION.map((name) => `/${name}`)) },
    { name: "./control", mode: 0o644, bytes: about },
    { name: "./md5sums", mode: 0o644, bytes: sums(files) },
    ...["postinst", "postrm", "prerm"].map((name) => ({
      name: `./${name}`,
      mode: 0o755,
      bytes: from(`debian/${name}`),
    })),
  ]);
  const bytes = ar(
    [
      { name: "debian-binary", mode: 0o644, bytes: Buffer.from("2.0\n") },
      { name: "control.tar.xz", mode: 0o644, bytes: await compress(tar(control, time)) },
      { name: "data.tar.xz", mode: 0o644, bytes: await compress(tar(files, time)) },
    ],
    time,
  );
  return { bytes, control: about.toString() };
}

const lines = (list) => Buffer.from(list.map((line) => `${line}\n`).join(""));

const unit = (name, from) => ({
  name: `./usr/lib/systemd/system/${name}`,
  mode: 0o644,
  bytes: from(name),
});

function controlFile({ version, arch, files }) {
  const size = files.reduce((total, { bytes }) => total + (bytes?.length ?? 0), 0);
  return lines([
    "Package: box",
    `Version: ${version.replace("-", "~")}`,
    `Architecture: ${debianArch[arch]}`,
    "Maintainer: box maintainers <root@localhost>",
    `Installed-Size: ${Math.ceil(size / 1024)}`,
    `Depends: ${DEPENDS}`,
    "Section: admin",
    "Priority: optional",
    "Description: self-hosted alert appliance",
    " Events in, pages out, nothing lost: matches log events against rules, opens",
    " alerts, pages who is on call, and sends signed webhooks, from one executable",
    " and one SQLite file.",
  ]);
}

/** As dpkg has it: without the configuration files, whose sums it keeps itself. */
function sums(files) {
  const listed = files.filter(({ name, bytes }) => bytes && !CONFIGURATION.includes(name.slice(2)));
  return lines(listed.map(({ name, bytes }) => `${hash("md5", bytes, "hex")}  ${name.slice(2)}`));
}
