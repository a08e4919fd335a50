import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { crc32 } from "node:zlib";
import Database from "better-sqlite3";
import { systemRandom } from "../../../../src/ground/kit/random.ts";
import { openReadOnly, openSqlite } from "../../../../src/ground/store/database.ts";
import { mayConfirm } from "../../../../src/ground/store/durable.ts";
import { createKeeper, type MadeOf } from "../../../../src/ground/store/record/keeper.ts";
import { createPageSums, pageHash } from "../../../../src/ground/store/record/sums.ts";
import {
  openUnconfirmed,
  readUnconfirmed,
} from "../../../../src/ground/store/record/unconfirmed.ts";
import { openStore, type Store, type StoreOptions } from "../../../../src/ground/store/store.ts";
import { type HandClock, handClock } from "../../../support/clock.ts";
import { emptyStoreAt } from "../../../support/data.ts";
import { inBoth, test } from "../../../support/long.ts";
import { memoryOrTemp } from "../../../support/memory.ts";
import { type MemoryRecord, memoryRecord } from "../../../support/memory-record.ts";
import { seed } from "../../../support/seed.ts";
import { seeded } from "../../../support/seeded.ts";
import { databaseOf } from "../../../support/wal-reader.ts";

/** A store whose pages are kept in a second place: what is there is always what the store was after some commit. */

/** Bytes for what is told while the place is away. */
const ROOM = 10_000;

const head = (id: string) => () => ({ id, tenant: "t1", epoch: 3 });

/** Records keep an image as it is, so each is hashed once. */
const hashes = new WeakMap<Uint8Array, bigint>();

function hashOf(page: number, image: Uint8Array): bigint {
  const known = hashes.get(image) ?? pageHash(page, image);
  hashes.set(image, known);
  return known;
}

interface Kept {
  record?: MemoryRecord;
  /** The file, made of what the record has. */
  image?: Buffer;
  madeOf?: MadeOf;
  /** Whether its disk alone may be enough. */
  goesOn?: boolean;
}

function kept(
  t: TestContext,
  { record = memoryRecord(), image, madeOf, goesOn = true }: Kept = {},
) {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-kept-"));
  const path = join(directory, "box.db");
  const clock = handClock();
  const states = new Set<number>();
  const said = {
    alone: [] as (string | null)[],
    compared: [] as string[],
    rotten: [] as [number, boolean][],
    lost: [] as Error[],
  };
  const others = { areThere: false };
  const keeper = createKeeper({
    clock,
    record,
    onLost: (fault) => void said.lost.push(fault),
    onAlone: (why) => void said.alone.push(why),
    onCompared: (why) => void said.compared.push(why),
    onRotten: (page, isBack) => void said.rotten.push([page, isBack]),
    hasOthers: () => others.areThere,
    madeOf: () => madeOf ?? null,
    unconfirmed: goesOn ? openUnconfirmed(directory, head("one"), ROOM) : null,
  });
  const now = () => crc32(databaseOf(path));
  const watched: StoreOptions["keeper"] = {
    ...keeper,
    committed(seq) {
      states.add(now());
      keeper.committed(seq);
    },
  };
  if (image) writeFileSync(path, image);
  else emptyStoreAt(path);
  const store = openStore({
    path,
    kind: "box",
    clock,
    random: systemRandom,
    durable: keeper.durable,
    keeper: watched,
  });
  record.onKept = ({ pages, sum, pageCount }) => {
    let found = 0n;
    for (const { page, image } of pages.values()) found ^= hashOf(page, image);
    assert.equal(found, sum, "the sum is that of the pages");
    assert.equal(pages.size, pageCount);
    assert.ok(states.has(crc32(record.image())), "it is what the store was once");
  };
  let isClosed = false;
  const stop = async () => {
    if (isClosed) return;
    isClosed = true;
    store.close();
    const ended = keeper.stop();
    await clock.turn(6_000);
    await ended;
  };
  t.after(async () => {
    await stop();
    rmSync(directory, { recursive: true });
  });
  if (!image) store.db.exec("CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB)");
  const whole = () => {
    store.db.pragma("wal_checkpoint(TRUNCATE)");
    return databaseOf(path);
  };
  return {
    path,
    clock,
    record,
    keeper,
    store,
    said,
    others,
    stop,
    whole,
    note: () => states.add(now()),
  };
}

function change(store: Store, upTo: (most: number) => number): void {
  store.write((tx) => {
    for (let i = upTo(12); i >= 0; i--)
      tx.db
        .prepare("INSERT OR REPLACE INTO things VALUES (?, ?)")
        .run(upTo(400), Buffer.alloc(upTo(9_000), upTo(256)));
    if (upTo(4) === 0) tx.db.prepare("DELETE FROM things WHERE id % 7 = ?").run(upTo(7));
  });
}

/** A page that holds rows of the test's own table, wherever the tables lie. */
function pageOfThings(image: Buffer): number {
  // In memory there is no log beside it: the copy's header says so, else SQLite refuses it.
  const db = new Database(Buffer.from(image).fill(1, 18, 20));
  const last = db
    .prepare("SELECT max(pageno) FROM dbstat WHERE name = 'things' AND pagetype = 'leaf'")
    .pluck()
    .get();
  db.close();
  assert.ok(typeof last === "number");
  return last;
}

/** Waits until everything is kept, while the clock is turned. */
async function settled({ clock, store }: ReturnType<typeof kept>): Promise<void> {
  for (let i = 0; i < 200; i++) {
    await clock.turn(250);
    if (store.durable() === null) return;
  }
  assert.fail("it is never kept");
}

async function story(t: TestContext, from: number): Promise<void> {
  const random = seeded(from);
  const upTo = (most: number) => Math.floor(random() * most);
  const world = kept(t);
  const { path, clock, record, store, said } = world;
  const other = openSqlite(path);
  const reader = openReadOnly(path);
  record.fate = () => (upTo(5) > 0 ? "answered" : upTo(2) === 0 ? "away" : "lost");
  const steps = [
    () => store.db.pragma(`wal_checkpoint(${["PASSIVE", "RESTART", "TRUNCATE"][upTo(3)]})`),
    () => store.db.exec("VACUUM"),
    () =>
      change(
        {
          ...store,
          write: (does) =>
            other.transaction(() => does({ db: other } as never)).immediate() as never,
        },
        upTo,
      ),
    () => record.setBack(),
    () => clock.turn(upTo(6_000)),
    () =>
      reader.inTransaction ? reader.exec("COMMIT") : reader.exec("BEGIN; SELECT * FROM things"),
  ];
  for (let i = 0; i < 50; i++) {
    if (upTo(3) === 0) await steps[upTo(steps.length)]?.();
    world.note();
    change(store, upTo);
    const seq = Number(store.sql("SELECT value FROM meta WHERE key = 'commits'").pluck().get());
    const before = said.alone.length;
    void store.durable()?.then(
      () => {
        // Told because the disk alone has to be enough.
        if (said.alone.length > before || said.alone.at(-1)) return;
        assert.ok(record.now.seq >= seq, `seed ${from}: commit ${seq} isn't kept`);
      },
      () => assert.fail(),
    );
    await clock.turn(upTo(2) * upTo(1_500));
  }
  if (reader.inTransaction) reader.exec("COMMIT");
  reader.close();
  other.close();
  record.fate = () => "answered";
  change(store, upTo);
  await settled(world);
  assert.ok(world.whole().equals(record.image()), `seed ${from}: the record has other pages`);
  await world.stop();
}

for (const [as, stories] of inBoth(1, 3))
  as(
    `each state that is kept is one that the store had, and what was durable is in it: ${stories} of all stories`,
    async (t) => {
      for (let i = 0; i < stories; i++) await story(t, seed + i);
    },
  );

test("while the place doesn't answer, the disk alone is enough after 4.5 s, and later all of it is kept", async (t) => {
  const world = kept(t);
  const { clock, record, store, said } = world;
  await settled(world);
  record.fate = () => "away";
  change(store, () => 3);
  let isTold = false;
  void store.durable()?.then(() => {
    isTold = true;
  });
  await clock.turn(4_000);
  assert.equal(isTold, false);
  await clock.turn(750);
  assert.equal(isTold, true);
  assert.equal(store.durable(), null);
  assert.deepEqual(said.alone, ["no answer"]);
  change(store, () => 5);
  record.fate = () => "answered";
  await clock.turn(1_500);
  assert.deepEqual(said.alone, ["no answer", null]);
  assert.ok(world.whole().equals(record.image()));
});

test("what is confirmed by this disk alone is noted before, and for as long as the place lacks it", async (t) => {
  const world = kept(t);
  const { clock, record, store, keeper } = world;
  const directory = dirname(world.path);
  const noted = () => readUnconfirmed(directory)?.lines.map(({ what }) => what) ?? null;
  await settled(world);
  assert.equal(
    mayConfirm(store, () => [{ n: 0 }]),
    null,
  );
  record.fate = () => "away";
  change(store, () => 3);
  const before = keeper.latest();
  const waiting = mayConfirm(store, () => [{ n: 1 }]);
  const alone = store.durable();
  change(store, () => 4);
  assert.equal(noted(), null);
  await clock.turn(4_750);
  await alone;
  await waiting;
  assert.deepEqual(noted(), [{ n: 1 }]);
  assert.equal(
    mayConfirm(store, () => [{ n: 2 }, { n: 3 }]),
    null,
  );
  assert.deepEqual(readUnconfirmed(directory)?.lines, [
    { commit: before, what: { n: 1 } },
    { commit: before + 1, what: { n: 2 } },
    { commit: before + 1, what: { n: 3 } },
  ]);
  // A crash cut the last line off: it was told to nobody, and is overwritten.
  appendFileSync(join(directory, "unconfirmed.ndjson"), '{"commit":9');
  assert.deepEqual(noted(), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  const again = openUnconfirmed(directory, head("two"));
  again.note(before + 1, [{ n: 4 }]);
  assert.deepEqual(noted(), [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  assert.equal(readUnconfirmed(directory)?.id, "one");
  again.kept(before);
  assert.equal(noted()?.length, 4, "the place lacks the last ones");
  // The place answers again, for what it was asked before the last commits.
  let asked = 0;
  record.fate = () => (asked++ === 0 ? "answered" : "away");
  await clock.turn(1_500);
  if (keeper.state().keptUpTo <= before) assert.equal(noted()?.length, 4);
  record.fate = () => "answered";
  await clock.turn(3_000);
  assert.equal(noted(), null);
});

test("where no room is left to note it, it isn't confirmed while another machine may take the store", async (t) => {
  const world = kept(t);
  const { clock, record, store, others } = world;
  await settled(world);
  record.fate = () => "away";
  change(store, () => 3);
  await clock.turn(4_750);
  const much = () => [{ x: "x".repeat(ROOM) }];
  assert.equal(mayConfirm(store, much), null);
  others.areThere = true;
  await assert.rejects(mayConfirm(store, much) ?? Promise.resolve(), { code: "not_ready" });
  assert.equal(
    mayConfirm(store, () => [{ n: 1 }]),
    null,
  );
  record.fate = () => "answered";
  await settled(world);
});

test("while pages are compared, nobody hears of what isn't there yet", async (t) => {
  const world = kept(t);
  const { record, store } = world;
  let asked = 0;
  record.onEnd = () => {
    asked++;
    assert.notEqual(store.durable(), null);
  };
  await settled(world);
  assert.equal(asked, 1);
});

/** Pages that come, or wait for their turn to be written, for longer than a process lives without a word. */
for (const goesOn of [true, false])
  test(`until a large store's pages are written, its life goes on${goesOn ? ", and nobody waits for them" : ""}`, async (t) => {
    const world = kept(t, { goesOn });
    const { clock, record, said } = world;
    let renewed = 0;
    const { hashes, mend, renew } = record;
    record.renew = () => {
      renewed++;
      return renew();
    };
    record.hashes = async () => {
      await clock.turn(9_000);
      return hashes();
    };
    record.mend = async (mending) => {
      await clock.turn(9_000);
      const before = renewed;
      const [first, ...more] = mending.pages();
      await clock.turn(5_000);
      assert.equal(renewed, before, "nothing that would wait for the change");
      await mend({ ...mending, pages: () => [first ?? [], ...more] });
    };
    for (let i = 0; i < 200 && said.compared.length === 0; i++) await clock.turn(250);
    assert.ok(renewed >= 8, `${renewed}`);
    assert.deepEqual(said.compared, ["start"]);
    assert.deepEqual([said.alone.at(-1) ?? null, said.lost.length], [null, 0]);
    assert.equal(said.alone.length > 0, goesOn);
  });

test("a process that stood still asks before it goes on alone", async (t) => {
  const world = kept(t);
  const { clock, record, store, said } = world;
  await settled(world);
  record.fate = () => "away";
  change(store, () => 3);
  await clock.turn(500);
  // All timers that ran out meanwhile run once.
  const still = stoodStill(clock);
  await clock.turn(60_000);
  record.fate = () => "answered";
  still.go();
  await clock.turn(500);
  assert.deepEqual(said.alone, []);
});

/** Holds every timer, as a process does that stands still; `go` runs those that ran out meanwhile. */
function stoodStill(clock: HandClock): { go(): void } {
  const { after } = clock;
  const late: (() => void)[] = [];
  let isStill = true;
  clock.after = (ms, fn) => after(ms, () => (isStill ? void late.push(fn) : fn()));
  return {
    go() {
      isStill = false;
      for (const fn of late) fn();
    },
  };
}

test("a process that stood still tells nothing before it has asked whose the store is", async (t) => {
  const world = kept(t);
  const { clock, record, store, said } = world;
  await settled(world);
  // A renewal is under way, whose answer is read only afterwards.
  const { promise: late, resolve: answer } = Promise.withResolvers<void>();
  const { renew } = record;
  let isAsked = false;
  record.renew = async () => {
    isAsked = true;
    const isLatest = await renew();
    await late;
    return isLatest;
  };
  while (!isAsked) await clock.turn(250);
  const still = stoodStill(clock);
  await clock.turn(60_000);
  record.renew = renew;
  const waiting = store.durable();
  const told: string[] = [];
  void waiting?.then(
    () => told.push("told"),
    () => told.push("refused"),
  );
  record.takeAway();
  answer();
  await clock.turn(0);
  still.go();
  await clock.turn(1_000);
  assert.notEqual(waiting, null, "nothing waits, and it isn't sure any more");
  assert.deepEqual(told, ["refused"]);
  assert.equal(said.lost.length, 1);
});

test("after a wait that nobody noticed, one answer of the place is enough", async (t) => {
  const world = kept(t);
  const { clock, store } = world;
  await settled(world);
  clock.setWall(clock.now() + 3_600_000);
  const waiting = store.durable();
  assert.notEqual(waiting, null);
  await clock.turn(0);
  await waiting;
  assert.equal(store.durable(), null);
});

test("whoever's store was taken says nothing more, and ends", async (t) => {
  const world = kept(t);
  const { clock, record, store, said } = world;
  await settled(world);
  record.takeAway();
  change(store, () => 3);
  let refused = 0;
  void store.durable()?.catch(() => refused++);
  await clock.turn(20_000);
  assert.equal(refused, 1);
  assert.equal(said.lost.length, 1);
  assert.deepEqual(said.alone, []);
});

test("whoever learns of it while nothing waits tells nothing more either", async (t) => {
  const world = kept(t);
  const { clock, record, store, said } = world;
  await settled(world);
  record.takeAway();
  await clock.turn(3_000);
  assert.equal(said.lost.length, 1);
  await assert.rejects(store.durable() ?? Promise.resolve(), /another has it/);
});

test("a store without a second place asks SQLite nothing more, numbers no commit, and waits for nothing", (t) => {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-kept-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "box.db");
  const store = openStore({ path, kind: "box", clock: handClock(), random: systemRandom });
  store.write((tx) => tx.db.exec("CREATE TABLE things (id INTEGER PRIMARY KEY, bytes BLOB)"));
  const statements = Object.getPrototypeOf(store.db.prepare("SELECT 1"));
  const real = { run: statements.run, get: statements.get };
  const asked: string[] = [];
  for (const name of ["run", "get"] as const)
    statements[name] = function (this: { source: string }, ...values: unknown[]) {
      asked.push(this.source);
      return real[name].apply(this, values);
    };
  store.write((tx) => tx.db.exec("INSERT INTO things VALUES (1, x'00')"));
  Object.assign(statements, real);
  assert.deepEqual(asked, ["BEGIN IMMEDIATE", "COMMIT"]);
  change(store, () => 3);
  assert.equal(store.durable(), null);
  assert.equal(store.sql("SELECT 1 FROM meta WHERE key = 'commits'").get(), undefined);
  store.close();
});

/** A store whose pages lie in the file, one of them changed by the disk; what it was before. */
async function rotten(t: TestContext) {
  const world = kept(t);
  const { path, store } = world;
  for (let i = 0; i < 50; i++) change(store, (most) => (i * 7) % most);
  await settled(world);
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  const before = databaseOf(path);
  // Longer than what lies in a row's own page, with a byte that lies in no other place so often.
  const longest =
    "SELECT bytes FROM things WHERE hex(bytes) NOT LIKE '00%' ORDER BY length(bytes) DESC";
  const value = store.sql<[], Buffer>(longest).pluck().get() as Buffer;
  const at = before.lastIndexOf(value.subarray(0, 3_000)) + 4;
  assert.ok(at > 4096);
  const fd = openSync(path, "r+");
  writeSync(fd, Buffer.of((before[at] ?? 0) ^ 1), 0, 1, at);
  closeSync(fd);
  store.db.pragma("shrink_memory");
  const sum = () =>
    store.sql("SELECT sum(length(bytes)), group_concat(hex(bytes)) FROM things").get();
  return { ...world, before, page: Math.floor(at / 4096) + 1, sum, bad: sum() };
}

test("a page that the disk changed is put back from the place, and isn't kept there", async (t) => {
  const { path, clock, record, said, before, page, sum, bad, keeper } = await rotten(t);
  assert.ok(!databaseOf(path).equals(before));
  await clock.turn(60_000);
  assert.deepEqual(said.rotten, [[page, true]]);
  assert.deepEqual(said.compared, ["start"]);
  assert.ok(databaseOf(path).equals(before));
  assert.ok(record.image().equals(before));
  assert.notDeepEqual(sum(), bad, "what was read before is read again");
  assert.equal(keeper.state().putBack, 1);
});

test("where the place hasn't got it either, that is said, and the disk's is kept", async (t) => {
  const { path, clock, record, said, page } = await rotten(t);
  record.read = () => Promise.resolve(Buffer.alloc(4096));
  await clock.turn(60_000);
  assert.deepEqual(said.rotten, [[page, false]]);
  assert.deepEqual(said.compared, ["start", "scrub"]);
  assert.equal(
    record.now.pages.get(page)?.hash,
    pageHash(page, databaseOf(path).subarray(4096 * (page - 1), 4096 * page)),
  );
});

test("a page that another program committed isn't put back", async (t) => {
  const { path, clock, record, store, said } = await rotten(t);
  const other = openSqlite(path);
  other.exec("UPDATE things SET bytes = zeroblob(3000)");
  other.pragma("wal_checkpoint(TRUNCATE)");
  await clock.turn(60_000);
  other.close();
  assert.deepEqual(said.rotten, []);
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  assert.equal(store.sql("SELECT sum(length(bytes)) / count(*) FROM things").pluck().get(), 3000);
  await clock.turn(60_000);
  assert.ok(databaseOf(path).equals(record.image()));
});

/** A store that was kept and left, in the hands of another machine whose file is made of the place's pages. */
async function handedOver(t: TestContext, meanwhile = (image: Buffer, _: MemoryRecord) => image) {
  const before = kept(t);
  const { record, store } = before;
  for (let i = 0; i < 50; i++) {
    change(store, (most) => (i * 7) % most);
    await settled(before);
  }
  await before.stop();
  const sums = createPageSums();
  for (const { page, hash: of } of record.now.pages.values()) sums.set(page, of);
  const madeOf = { seq: record.now.seq, sums };
  return kept(t, { record, image: meanwhile(record.image(), record), madeOf });
}

test("a file that was made of the place's pages isn't compared with them, and what is committed is kept", async (t) => {
  const world = await handedOver(t);
  const { path, record, store, said, keeper, whole, note } = world;
  const seq = record.now.seq;
  assert.equal(keeper.state().keptUpTo, seq);
  await settled(world);
  assert.equal(record.now.seq, seq);
  for (let i = 0; i < 50; i++) {
    change(store, (most) => (i * 5) % most);
    note();
  }
  await settled(world);
  assert.ok(record.now.seq > seq);
  assert.ok(record.image().equals(whole()));
  assert.ok(databaseOf(path).equals(record.image()));
  assert.deepEqual([said.compared, said.rotten], [[], []]);
});

test("a commit too large to be collected is a gap also where the start compared nothing", async (t) => {
  const world = await handedOver(t);
  await settled(world);
  world.store.write((tx) => {
    const add = tx.db.prepare("INSERT INTO things (bytes) VALUES (randomblob(1000000))");
    for (let n = 0; n < 20; n++) add.run();
  });
  world.note();
  await settled(world);
  assert.deepEqual(world.said.compared, ["gap"]);
  assert.ok(world.record.image().equals(world.whole()));
});

test("a file that was changed since it was made is compared", async (t) => {
  const world = await handedOver(t, (image) => {
    const path = join(mkdtempSync(join(memoryOrTemp(), "box-kept-")), "box.db");
    t.after(() => rmSync(dirname(path), { recursive: true }));
    writeFileSync(path, image);
    const db = openSqlite(path);
    db.exec("CREATE TABLE later (x)");
    db.close();
    return readFileSync(path);
  });
  world.note();
  await settled(world);
  assert.deepEqual(world.said.compared, ["start"]);
  assert.ok(world.record.image().equals(world.whole()));
});

test("where the place was set back since, all is compared", async (t) => {
  const world = await handedOver(t, (image, record) => {
    record.setBack();
    return image;
  });
  world.note();
  await settled(world);
  assert.deepEqual(world.said.compared, ["behind"]);
  assert.ok(world.record.image().equals(world.whole()));
});

test("a page that the disk changed in a file that was made is found, and isn't kept in the place", async (t) => {
  let page = 0;
  const world = await handedOver(t, (image) => {
    page = pageOfThings(image);
    const bad = Buffer.from(image);
    bad.writeUInt8((bad[4096 * page - 9] ?? 0) ^ 1, 4096 * page - 9);
    return bad;
  });
  const good = world.record.image();
  await settled(world);
  await world.clock.turn(60_000);
  assert.deepEqual(world.said.rotten, [[page, true]]);
  assert.deepEqual(world.said.compared, []);
  assert.ok(world.record.image().equals(good));
  assert.ok(databaseOf(world.path).equals(good));
});
