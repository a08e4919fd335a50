import assert from "node:assert/strict";
import fs, { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { StoreFault } from "../../../src/ground/store/faults.ts";
import { digestFile } from "../../../src/ground/store/files.ts";
import { setMeta } from "../../../src/ground/store/meta.ts";
import { manifestBeside } from "../../../src/ground/store/snapshot.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { placeOf } from "../../../src/records/backup/place.ts";
import { restoreBackup } from "../../../src/records/backup/restore.ts";
import { takeBackup } from "../../../src/records/backup/take.ts";
import { readManifest, verifyBackup } from "../../../src/records/backup/verify.ts";
import { handClock } from "../../support/clock.ts";
import { servedBefore } from "../../support/data.ts";
import { scratch } from "../../support/scratch.ts";

const clock = handClock();

/** Makes a backup: of a store that has grown since the one before it. */
function real(file: string): void {
  const data = join(dirname(file), "data");
  servedBefore(data, "box");
  const path = join(data, "box.db");
  const store = openStore({ path, kind: "box", clock, random: systemRandom });
  store.write((tx) => setMeta(tx, "digest", file));
  store.close();
  takeBackup({ place: placeOf(data), file, withKey: false, clock });
}

/** What is enough to be read: nobody looks into it. */
function small(file: string): void {
  writeFileSync(file, file);
  const said = { ...digestFile(file), kind: "box", schema: 1, taken_at: 1, counts: {} };
  writeFileSync(`${file}.json`, JSON.stringify(said));
}

/** Two of them, and a place that one of them is copied to. */
function twoBackups(t: TestContext, make: (file: string) => void) {
  const directory = scratch(t);
  const take = (name: string) => {
    const file = join(directory, name);
    make(file);
    return file;
  };
  const [older, newer] = [take("older.db"), take("newer.db")];
  const file = join(directory, "today.db");
  const { present, next } = manifestBeside(file);
  /** As it was before somebody replaced it: with the older one, or with nothing. */
  const lay = (was: "older" | "absent") => {
    for (const path of [file, present, next]) fs.rmSync(path, { force: true });
    if (was === "absent") return;
    copyFileSync(older, file);
    copyFileSync(`${older}.json`, present);
  };
  const { renameSync } = fs;
  /** The steps by which a backup takes its name (`takeSnapshot`). */
  const steps = () => {
    const aside = join(directory, "aside");
    mkdirSync(aside, { recursive: true });
    copyFileSync(newer, join(aside, "copy.db"));
    copyFileSync(`${newer}.json`, join(aside, "copy.json"));
    return [
      () => renameSync(join(aside, "copy.json"), next),
      () => renameSync(join(aside, "copy.db"), file),
      () => renameSync(next, present),
    ];
  };
  return { directory, file, lay, steps, sums: [older, newer].map((of) => readManifest(of).sha256) };
}

const WATCHED = ["existsSync", "readFileSync", "openSync", "statSync", "copyFileSync"] as const;

/** Runs `read` and calls `before` with 0, 1, … ahead of each of its steps on files; how many there were. */
function stepwise(read: () => void, before: (step: number) => void): number {
  const methods = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  const real = WATCHED.map((name) => [name, methods[name]] as const);
  let [taken, own] = [0, false];
  for (const [name, method] of real)
    methods[name] = (...given) => {
      if (!own) {
        own = true;
        before(taken++);
        own = false;
      }
      return method?.(...given);
    };
  syncBuiltinESMExports();
  try {
    read();
  } finally {
    for (const [name, method] of real) if (method !== undefined) methods[name] = method;
    syncBuiltinESMExports();
  }
  return taken;
}

test("what is said of a backup is read whole, whenever it is replaced meanwhile", (t) => {
  const { file, lay, steps, sums } = twoBackups(t, small);
  for (const was of ["older", "absent"] as const)
    for (let first = 0; first < 5; first++)
      for (let second = first; second < 5; second++)
        for (let third = second; third < 5; third++) {
          lay(was);
          const [begin, put, end] = steps();
          try {
            stepwise(
              () => assert.ok(sums.includes(readManifest(file).sha256)),
              (step) => {
                if (step === first) begin?.();
                if (step === second) put?.();
                if (step === third) end?.();
              },
            );
          } catch (error) {
            const isAbsent = error instanceof StoreFault && error.kind === "unavailable";
            assert.ok(was === "absent" && isAbsent, `${was} ${first} ${second} ${third}: ${error}`);
          }
        }
});

test("a backup that is replaced while it is verified or restored isn't called damaged", (t) => {
  const { directory, file, lay, steps, sums } = twoBackups(t, real);
  const all = () => {
    for (const step of steps()) step();
  };
  lay("older");
  const count = stepwise(
    () => verifyBackup(file),
    () => {},
  );
  assert.ok(count > 3, `${count}`);
  for (let at = 0; at < count; at++) {
    lay("older");
    stepwise(
      () => assert.ok(sums.includes(verifyBackup(file).sha256)),
      (step) => step === at && all(),
    );
  }
  const seen = { done: 0, again: 0 };
  for (const at of [0, 3, 6, 9]) {
    lay("older");
    const place = placeOf(join(directory, `to-${at}`));
    const restore = () => restoreBackup({ place, file, replace: false, pending: "auto", clock });
    try {
      stepwise(restore, (step) => step === at && all());
      seen.done += 1;
    } catch (error) {
      assert.match(String(error), /today.db was replaced by another backup while it was read/);
      assert.ok(!fs.existsSync(place.path));
      seen.again += 1;
      restore();
    }
  }
  assert.ok(seen.done > 0 && seen.again > 0, JSON.stringify(seen));
  writeFileSync(file, "no backup");
  assert.throws(() => verifyBackup(file), { kind: "damaged" });
});
