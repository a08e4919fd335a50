import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { getMeta, lastOfSequence, setMeta, takeSequence } from "../../../src/ground/store/meta.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { handClock } from "../../support/clock.ts";
import { seed } from "../../support/seed.ts";
import { seeded } from "../../support/seeded.ts";

const directory = mkdtempSync(join(tmpdir(), "box-sequence-"));
after(() => rmSync(directory, { recursive: true }));

const open = (): Store =>
  openStore({
    path: join(directory, "box.db"),
    kind: "box",
    clock: handClock(),
    random: systemRandom,
  });

test("numbers only rise, over what is undone, starts and a restored value, and few commits write them", () => {
  const random = seeded(seed);
  let store = open();
  let last = 0;
  const stored = new Set<unknown>();
  for (let round = 0; round < 4_000; round++) {
    const n = random() < 0.02 ? 1_500 : 1 + Math.floor(random() * 40);
    const isUndone = random() < 0.1;
    const take = () =>
      store.write((tx) => {
        const first = takeSequence(tx, n);
        assert.ok(first > last, `${first} after ${last}`);
        if (isUndone) throw new Error("undone");
        last = first + n - 1;
      });
    if (isUndone) assert.throws(take, /undone/);
    else {
      take();
      assert.equal(lastOfSequence(store), last);
    }
    stored.add(getMeta(store, "updated_seq"));
    if (random() < 0.01) {
      store.close();
      store = open();
      assert.ok(lastOfSequence(store) >= last);
    }
    if (random() < 0.01) {
      last += 5_000;
      store.write((tx) => setMeta(tx, "updated_seq", last));
      assert.equal(lastOfSequence(store), last);
    }
  }
  assert.ok(stored.size < 600, `${stored.size} values were written`);
  store.close();
});
