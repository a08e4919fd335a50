import assert from "node:assert/strict";
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeDirectory, makeDirectoryAsync } from "../../../src/ground/kit/make-directory.ts";
import { scratch } from "../../support/scratch.ts";

const ways: [string, (directory: string) => Promise<void>][] = [
  ["at once", async (directory) => void makeDirectory(directory)],
  ["later", makeDirectoryAsync],
];

for (const [when, make] of ways)
  test(`a directory is made with those above it, or the error says what is in the way (${when})`, async (t) => {
    const root = scratch(t);
    const deep = join(root, "a", "b", "c");
    await make(deep);
    await make(deep);
    assert.equal(statSync(deep).mode & 0o777, 0o700);
    symlinkSync(deep, join(root, "link"));
    await make(join(root, "link"));
    await make(join(root, "link", "d", ""));
    assert.ok(statSync(join(deep, "d")).isDirectory());
    await make("/");

    writeFileSync(join(root, "file"), "");
    symlinkSync(join(root, "nowhere"), join(root, "dangling"));
    for (const [name, code] of [
      ["file", "EEXIST"],
      ["file/x/y", "ENOTDIR"],
      ["dangling/x", "EEXIST"],
    ])
      await assert.rejects(make(join(root, name as string)), { code });
    for (const below of ["/proc/box", "/proc/box/a/b"])
      await assert.rejects(make(below), /^Error: nothing can be made in \/proc$/);
  });

test("who made it is told", (t) => {
  const directory = join(scratch(t), "a");
  assert.deepEqual(makeDirectory(directory), { isNew: true });
  assert.deepEqual(makeDirectory(directory), { isNew: false });
  mkdirSync(join(directory, "b"));
  assert.deepEqual(makeDirectory(join(directory, "b")), { isNew: false });
});

test("several that make one directory at one time all have it", async (t) => {
  const root = scratch(t);
  for (let n = 0; n < 100; n++) {
    const deep = join(root, `${n}`, "b", "c");
    await Promise.all([1, 2, 3].map(() => makeDirectoryAsync(deep)));
    assert.ok(statSync(deep).isDirectory());
  }
});
