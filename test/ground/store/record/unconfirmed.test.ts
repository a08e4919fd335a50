import assert from "node:assert/strict";
import fs, { existsSync, fstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import {
  openUnconfirmed,
  readUnconfirmed,
} from "../../../../src/ground/store/record/unconfirmed.ts";
import { scratch } from "../../../support/scratch.ts";

const whats = (data: string) =>
  readUnconfirmed(data)?.lines.map(({ what }) => (what as { said: string }).said) ?? [];
const head = (id: string) => () => ({ id, tenant: "t1", epoch: 3 });
const said = (...words: string[]) => words.map((word) => ({ said: word }));

test("whatever a crash leaves of the last writing, what was noted before is read, and more is noted", (t) => {
  const data = scratch(t);
  const path = join(data, "unconfirmed.ndjson");
  const open = () => openUnconfirmed(data, head("a1"));
  assert.ok(open().note(1, said("first", "sécond")));
  const before = readFileSync(path);
  assert.ok(open().note(2, said("third", "fourth")));
  const all = readFileSync(path);
  const tail = all.subarray(before.length);
  for (let kept = 0; kept < tail.length; kept++)
    for (const left of [
      // Cut off; or in its place and not filled; or its beginning alone is missing.
      tail.subarray(0, kept),
      Buffer.concat([tail.subarray(0, kept), Buffer.alloc(tail.length - kept)]),
      Buffer.concat([Buffer.alloc(kept + 1), tail.subarray(kept + 1)]),
    ]) {
      writeFileSync(path, Buffer.concat([before, left]));
      const found = whats(data);
      assert.deepEqual(found, ["first", "sécond", "third"].slice(0, found.length), `${kept}`);
      assert.ok(found.length >= 2, `${kept}`);
      assert.ok(open().note(3, said("later")));
      assert.deepEqual(whats(data), [...found, "later"]);
      assert.equal(readUnconfirmed(data)?.id, "a1");
    }
});

test("a head that was cut off begins the file anew; where nothing can be written, nothing is noted", (t) => {
  const data = scratch(t);
  writeFileSync(join(data, "unconfirmed.ndjson"), '{"id":"a');
  assert.equal(readUnconfirmed(data), null);
  assert.ok(openUnconfirmed(data, head("b2")).note(1, said("first")));
  assert.deepEqual([readUnconfirmed(data)?.id, whats(data)], ["b2", ["first"]]);
  const gone = join(data, "gone");
  const none = openUnconfirmed(gone, head("c3"));
  assert.equal(none.note(1, said("first")), false);
});

test("each line is on the disk before it counts as noted", (t) => {
  const data = scratch(t);
  const path = join(data, "unconfirmed.ndjson");
  let synced = 0;
  let isNamed = false;
  const { fdatasyncSync, fsyncSync } = fs;
  t.mock.method(fs, "fdatasyncSync", (fd: number) => {
    fdatasyncSync(fd);
    synced = fstatSync(fd).size;
  });
  t.mock.method(fs, "fsyncSync", (fd: number) => {
    fsyncSync(fd);
    isNamed ||= fstatSync(fd).ino === statSync(data).ino && existsSync(path);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const file = openUnconfirmed(data, head("d4"));
  for (const [at, word] of ["first", "second", "third"].entries()) {
    assert.ok(file.note(at, said(word)));
    assert.equal(synced, statSync(path).size, word);
    assert.ok(isNamed, "the file's name is on the disk");
  }
});
