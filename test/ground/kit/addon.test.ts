import assert from "node:assert/strict";
import { hash } from "node:crypto";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { addonDirectories, extract, loadNative } from "../../../src/ground/kit/addon.ts";

const bytes = fs.readFileSync(
  path.join(
    import.meta.dirname,
    `../../../node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`,
  ),
);
let reads = 0;
const addon = {
  name: "sqlite",
  version: "1.2.3",
  sha256: hash("sha256", bytes, "hex"),
  read() {
    reads++;
    return bytes;
  },
};

let folder = "";
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "box-addon-"));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

test("the file is laid down for its owner alone, and loads", () => {
  const directory = path.join(folder, "a", "b");
  const file = extract(addon, directory);
  assert.match(path.basename(file), /^sqlite-1\.2\.3-[0-9a-f]{64}\.node$/);
  assert.equal(fs.statSync(directory).mode & 0o777, 0o700);
  assert.equal(fs.statSync(file).mode & 0o777, 0o500);
  assert.deepEqual(fs.readFileSync(file), bytes);
  assert.ok("Database" in loadNative(addon, [directory]));
});

test("a file that is as it should be is used as it is", () => {
  const before = fs.statSync(extract(addon, folder));
  reads = 0;
  const after = fs.statSync(extract(addon, folder));
  assert.equal(after.ino, before.ino);
  assert.equal(reads, 0, "what is carried isn't unpacked for it");
  assert.deepEqual(fs.readdirSync(folder).length, 1);
});

test("a file with one other byte is replaced", () => {
  const file = extract(addon, folder);
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);
  fs.chmodSync(file, 0o700);
  fs.writeFileSync(file, changed);
  assert.equal(extract(addon, folder), file);
  assert.deepEqual(fs.readFileSync(file), bytes);
});

test("a link and a file that others may write to are replaced, not followed", () => {
  const file = extract(addon, folder);
  const elsewhere = path.join(folder, "elsewhere");
  fs.renameSync(file, elsewhere);
  fs.symlinkSync(elsewhere, file);
  extract(addon, folder);
  assert.ok(fs.lstatSync(file).isFile());

  fs.chmodSync(file, 0o522);
  extract(addon, folder);
  assert.equal(fs.statSync(file).mode & 0o777, 0o500);
});

test("half a file of a start that was killed is in nobody's way", () => {
  const file = extract(addon, folder);
  fs.rmSync(file);
  fs.writeFileSync(`${file}.${process.pid}`, "half");
  extract(addon, folder);
  assert.deepEqual(fs.readFileSync(file), bytes);
});

test("what another version left is removed; other files stay", () => {
  const old = extract({ ...addon, version: "1.2.2" }, folder);
  fs.writeFileSync(path.join(folder, "notes.txt"), "");
  const file = extract(addon, folder);
  assert.ok(!fs.existsSync(old));
  assert.deepEqual(fs.readdirSync(folder).sort(), ["notes.txt", path.basename(file)]);
});

test("a directory that others may write to is refused, and the next one taken", () => {
  const open = path.join(folder, "open");
  const own = path.join(folder, "own");
  fs.mkdirSync(open);
  fs.chmodSync(open, 0o777);
  assert.throws(() => extract(addon, open), /others may write to it/);
  loadNative(addon, [open, own]);
  assert.equal(fs.readdirSync(own).length, 1);
});

test("when no directory will do, the error names each and says what to set", () => {
  const file = path.join(folder, "file");
  fs.writeFileSync(file, "");
  assert.throws(() => loadNative(addon, [file]), {
    message: /file: .*BOX_CACHE_DIR/s,
  });
});

test("BOX_CACHE_DIR is the only place when it is given; the data directory is the last otherwise", () => {
  assert.deepEqual(addonDirectories({ BOX_CACHE_DIR: "/c", HOME: "/root" }, "/data"), ["/c"]);
  assert.deepEqual(
    addonDirectories({ CACHE_DIRECTORY: "/var/cache/box:/other", HOME: "/home/a" }, "/data"),
    ["/var/cache/box", "/home/a/.cache/box", "/data/.cache"],
  );
  assert.deepEqual(addonDirectories({ XDG_CACHE_HOME: "/x", HOME: "/home/a" }, "/data"), [
    "/x/box",
    "/data/.cache",
  ]);
  assert.deepEqual(addonDirectories({}, "/data"), ["/data/.cache"]);
});
