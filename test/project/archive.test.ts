import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { needs } from "../support/commands.ts";

interface Entry {
  name: string;
  mode: number;
  bytes?: Buffer;
}
interface Archive {
  tar(entries: Entry[], time: number): Buffer;
  ar(entries: Entry[], time: number): Buffer;
  withFolders(entries: Entry[]): Entry[];
}

const systemd = path.join(import.meta.dirname, "../../systemd");
const { tar, ar, withFolders }: Archive = await import(path.join(systemd, "archive.mjs"));
const { stripSymbols } = await import(path.join(systemd, "elf.mjs"));

const entries = [
  { name: "./a/b/one", mode: 0o755, bytes: Buffer.from("1".repeat(513)) },
  { name: "./a/two", mode: 0o640, bytes: Buffer.from("zwei") },
];

test("tar reads back what was put in, under root, with one time", needs("tar"), () => {
  const archive = tar(withFolders(entries), 1_700_000_000);
  const listed = spawnSync("tar", ["-tvf", "-", "--utc", "--full-time"], {
    input: archive,
    encoding: "utf8",
  });
  const lines = listed.stdout
    .trim()
    .split("\n")
    .map((line) => line.replace(/ +/g, " "));
  const when = "2023-11-14 22:13:20";
  assert.deepEqual(lines, [
    `drwxr-xr-x root/root 0 ${when} ./`,
    `drwxr-xr-x root/root 0 ${when} ./a/`,
    `drwxr-xr-x root/root 0 ${when} ./a/b/`,
    `-rwxr-xr-x root/root 513 ${when} ./a/b/one`,
    `-rw-r----- root/root 4 ${when} ./a/two`,
  ]);
  const two = spawnSync("tar", ["-xOf", "-", "./a/two"], { input: archive, encoding: "utf8" });
  assert.equal(two.stdout, "zwei");
});

test("a name that doesn't fit a tar header is refused", () => {
  assert.throws(() => tar([{ name: "x".repeat(101), mode: 0o644 }], 0), /too long/);
});

test("ar lays its members out as Debian packages have them", () => {
  const archive = ar(
    [
      { name: "debian-binary", mode: 0o644, bytes: Buffer.from("2.0\n") },
      { name: "odd", mode: 0o644, bytes: Buffer.from("123") },
    ],
    1_700_000_000,
  ).toString("latin1");
  assert.equal(
    archive,
    "!<arch>\n" +
      "debian-binary   1700000000  0     0     100644  4         `\n2.0\n" +
      "odd             1700000000  0     0     100644  3         `\n123\n",
  );
});

const isElf = process.platform === "linux";

test("a stripped executable keeps what is loaded and loses the rest", { skip: !isElf }, () => {
  const bytes = readFileSync(process.execPath);
  const stripped: Buffer = stripSymbols(bytes);
  assert.ok(stripped.length < bytes.length * 0.9);
  // The first 64 bytes tell where the section headers are; the rest is as it was.
  assert.ok(stripped.subarray(64, 100_000_000).equals(bytes.subarray(64, 100_000_000)));
  assert.equal(stripSymbols(stripped), stripped);
  const script = Buffer.from("#!/bin/sh\n");
  assert.equal(stripSymbols(script), script);
});
