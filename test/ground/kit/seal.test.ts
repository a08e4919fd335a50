import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  addKey,
  type KeyRing,
  keyFileBytes,
  loadKeyRing,
  openKeyRing,
} from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { keyIdOf, open, seal } from "../../../src/ground/kit/seal.ts";
import fc from "../../support/property.ts";

const name = "box.key";
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "box-keys-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function opened(inUse: readonly string[] = []) {
  return openKeyRing({ dir, name, inUse });
}

function textOf(ring: KeyRing, sealed: string, context: string): string {
  const result = open(ring, sealed, context);
  return result.ok ? result.text : `(${result.reason})`;
}

test("what is sealed opens for the same place alone, and no part can be changed", () => {
  const { ring } = opened();
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.nat(), (text, context, at) => {
      const sealed = seal(ring, text, context);
      assert.match(sealed, /^v1\.[0-9a-f]{16}\.[\w-]{16}\.[\w-]*\.[\w-]{22}$/);
      assert.equal(textOf(ring, sealed, context), text);
      assert.equal(textOf(ring, sealed, `${context}x`), "(damaged)");
      const bytes = Buffer.from(sealed.split(".").slice(2).join(""), "base64url").length;
      assert.ok(bytes >= Buffer.byteLength(text) + 28);
      const i = at % sealed.length;
      // The last character of a part also carries bits that mean nothing.
      if (sealed[i] === "." || sealed[i + 1] === "." || i === sealed.length - 1) return;
      const changed = `${sealed.slice(0, i)}${sealed[i] === "A" ? "B" : "A"}${sealed.slice(i + 1)}`;
      assert.match(textOf(ring, changed, context), /^\((malformed|unknown_key|damaged)\)$/);
    }),
  );
});

test("no two seals of one text are alike, and none shows it", () => {
  const { ring } = opened();
  const sealed = Array.from({ length: 50 }, () => seal(ring, "canary-canary", "a"));
  assert.equal(new Set(sealed).size, 50);
  assert.ok(!sealed.join().includes("canary"));
});

test("what was never sealed is malformed", () => {
  const { ring } = opened();
  const whole = seal(ring, "text", "a");
  for (const bad of [
    "",
    "text",
    "v2.a.b.c.d",
    `${whole}.`,
    ` ${whole}`,
    whole.slice(0, -3),
    "v1....",
  ]) {
    assert.deepEqual(open(ring, bad, "a"), { ok: false, reason: "malformed" }, bad);
    assert.equal(keyIdOf(bad), null);
  }
  assert.equal(keyIdOf(whole), ring.present.id);
});

test("a first start makes one key file of 32 bytes, 0600, and later starts find it", () => {
  assert.equal(loadKeyRing(dir, name).ring, null);
  const first = opened();
  assert.deepEqual(readdirSync(dir), [name]);
  assert.equal(statSync(join(dir, name)).size, 32);
  assert.equal(statSync(join(dir, name)).mode & 0o777, 0o600);
  const second = opened([first.ring.present.id]);
  assert.deepEqual([second.faults, second.missing], [[], []]);
  assert.equal(textOf(second.ring, seal(first.ring, "kept", "a"), "a"), "kept");
  assert.deepEqual(readdirSync(dir), [name]);
});

test("a lost key: new values get a key of their own, the old file put back opens both", () => {
  const before = opened().ring;
  const old = seal(before, "old", "a");
  const kept = join(dir, "kept-elsewhere");
  copyFileSync(join(dir, name), kept);
  rmSync(join(dir, name));

  const lost = opened([before.present.id]);
  assert.deepEqual(lost.missing, [before.present.id]);
  assert.notEqual(lost.ring.present.id, before.present.id);
  assert.deepEqual(open(lost.ring, old, "a"), { ok: false, reason: "unknown_key" });
  const entered = seal(lost.ring, "entered later", "b");
  const again = opened([before.present.id, lost.ring.present.id]);
  assert.equal(again.ring.present.id, lost.ring.present.id);
  assert.equal(readdirSync(dir).length, 2);

  copyFileSync(kept, join(dir, name));
  const back = opened([before.present.id, lost.ring.present.id]);
  assert.deepEqual(back.missing, []);
  assert.equal(textOf(back.ring, old, "a"), "old");
  assert.equal(textOf(back.ring, entered, "b"), "entered later");
});

test("a wrong key in place of the lost one is kept when the right one returns", () => {
  const right = opened().ring;
  const old = seal(right, "old", "a");
  writeFileSync(join(dir, name), systemRandom.bytes(32));

  const wrong = opened([right.present.id]);
  assert.deepEqual(wrong.missing, [right.present.id]);
  assert.equal(textOf(wrong.ring, old, "a"), "(unknown_key)");
  const entered = seal(wrong.ring, "entered later", "b");

  writeFileSync(join(dir, name), right.present.bytes);
  const back = opened([right.present.id, wrong.ring.present.id]);
  assert.deepEqual(back.missing, []);
  assert.equal(back.ring.present.id, right.present.id);
  assert.equal(textOf(back.ring, old, "a"), "old");
  assert.equal(textOf(back.ring, entered, "b"), "entered later");
});

test("an old key file is added beside, once, and a file of no keys isn't", () => {
  const { ring } = opened();
  const other = systemRandom.bytes(64);
  const ids = addKey(dir, name, other);
  assert.equal(ids?.length, 2);
  assert.deepEqual(addKey(dir, name, other), ids);
  assert.deepEqual(addKey(dir, name, ring.present.bytes), [ring.present.id]);
  const after = opened().ring;
  assert.equal(after.present.id, ring.present.id);
  assert.deepEqual(new Set(after.keys.keys()), new Set([ring.present.id, ...(ids ?? [])]));
  assert.equal(readdirSync(dir).length, 3);
  for (const bad of [Buffer.alloc(0), Buffer.alloc(31), Buffer.alloc(33)]) {
    assert.equal(addKey(dir, name, bad), null);
  }
});

test("the whole ring travels as one key file, its present key first", () => {
  const { ring } = opened();
  addKey(dir, name, systemRandom.bytes(32));
  const whole = keyFileBytes(opened().ring);
  for (const file of readdirSync(dir)) rmSync(join(dir, file));
  writeFileSync(join(dir, name), whole, { mode: 0o600 });
  const restored = opened().ring;
  assert.equal(restored.keys.size, 2);
  assert.equal(restored.present.id, ring.present.id);
});

test("a key file that others can read, or of a wrong length, is a named fault and not used", () => {
  const good = opened().ring;
  const path = join(dir, name);
  chmodSync(path, 0o640);
  assert.deepEqual(loadKeyRing(dir, name), {
    ring: null,
    faults: [{ file: name, problem: "too_open" }],
  });
  const degraded = opened([good.present.id]);
  assert.deepEqual(degraded.missing, [good.present.id]);
  assert.notEqual(degraded.ring.present.id, good.present.id);
  chmodSync(path, 0o600);
  assert.deepEqual(opened([good.present.id]).missing, []);

  for (const length of [0, 31, 33]) {
    writeFileSync(path, Buffer.alloc(length));
    const { ring, faults } = opened();
    assert.deepEqual(faults, [{ file: name, problem: "bad_length" }]);
    assert.equal(statSync(path).size, length);
    assert.equal(textOf(ring, seal(ring, "works", "a"), "a"), "works");
  }
});

test("what a killed first start left behind doesn't hinder the next", () => {
  writeFileSync(join(dir, `.${name}.a1b2c3`), Buffer.alloc(7), { mode: 0o600 });
  const { ring, faults } = opened();
  assert.deepEqual(faults, []);
  assert.deepEqual(readFileSync(join(dir, name)), ring.present.bytes);
});
