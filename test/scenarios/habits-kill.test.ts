import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { runCommand } from "../../src/app/prove/scratch-box.ts";
import { seeded } from "../../src/app/prove/seeded.ts";
import { openSqlite } from "../../src/ground/store/database.ts";
import { type BoxProcess, boxProcess } from "../support/box-process.ts";
import { newData } from "../support/data.ts";
import { type Hurry, hurried, hurryWords } from "../support/hurry.ts";
import { programFile } from "../support/program.ts";

/**
 * Rules for what is new, unusual or missing, and a box that is killed again and again, and restored from a backup, while its
 * source is learned and after: nothing is called so that isn't, and what is so is told once. Its weeks before are planted.
 */

/** A minute of the box is a quarter of a second. */
const hurry: Hurry = { from: Date.now(), times: 240 };
const now = () => hurried(hurry) / 1000;
const real = (seconds: number) => (seconds * 1000) / hurry.times;
const KILLS = Number(process.env["KILLS"] ?? 2);
const choice = seeded(Number(process.env["SEED"] ?? 33), "habits");
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const COMES = "backup has ended";
const GONE = "report was sent to the bank";
const MORE = "payment was refused";
/** What is missing after an hour was heard this long ago when the box starts on its planted weeks. */
const SILENT = 45 * MINUTE;
const LEARNS = 80 * MINUTE;

interface Alert {
  id: string;
  rule: string;
  template: string;
  state: string;
  opened_at: number;
  first_seen: number;
}

/** When it ran, by clocks outside; the last one still does. What a restore takes away it didn't run. */
let ups: { from: number; until: number }[] = [];
/** Seconds in which it ran, at the most. */
const ran = (from: number, at: number) =>
  ups.reduce((sum, up) => sum + Math.max(0, Math.min(at, up.until) - Math.max(from, up.from)), 0);

const word = () => Array.from({ length: 4 }, () => choice.pick(["ba", "ko", "mi", "tu"])).join("");

/** Four weeks in which each came, as if this box had heard them. */
function plant({ data }: BoxProcess, ids: Record<"comes" | "gone" | "more", string>): number {
  const db = openSqlite(join(data, "box.db"));
  const at = Math.floor(now());
  const last = at - SILENT;
  db.exec("DELETE FROM hour_counts; DELETE FROM template_returns;");
  db.prepare("UPDATE sources SET heard_since = ?").run(at - DAY + LEARNS);
  db.prepare("UPDATE count_series SET since = since - ?").run(35 * DAY);
  const put = db.prepare(
    `INSERT INTO hour_counts (series_id, day, key, n, hours, last, gap)
      SELECT id, ?, ?, ?, ?, ?, 900 FROM count_series WHERE selection = ''`,
  );
  for (let back = 0; back < 30; back++)
    for (const [what, n] of [
      ["comes", 4],
      ["gone", 4],
      ["more", 1],
    ] as const) {
      const day = Math.floor(last / DAY) - back;
      put.run(day, ids[what], 24 * n, JSON.stringify(new Array(24).fill(n)), last - back * DAY);
    }
  db.close();
  return last;
}

test("a box is killed and restored while it learns: nothing is told that isn't so, and what is so once", async (t) => {
  const program = [process.execPath, ...hurryWords(hurry), await programFile()] as const;
  const box = boxProcess([...program]);
  t.after(() => box.discard());
  const kept = newData("box-habits-");
  t.after(() => rmSync(kept, { recursive: true, force: true }));
  const start = async () => {
    const from = now();
    await box.start();
    ups.push({ from, until: Number.POSITIVE_INFINITY });
  };
  const over = () => {
    const up = ups.at(-1);
    if (up !== undefined) up.until = now();
  };
  await start();
  const token = await box.project("shop");
  const rules = [
    { name: "new", match: { first_seen_days: 1 } },
    {
      name: "more",
      match: { unusual: { factor: 3, at_least: 10 } },
      fire_after: { window_minutes: 60 },
    },
    { name: "gone", missing: true, max_open: 0 },
  ];
  await box.api.need("DELETE", "/v1/projects/shop/rules/any");
  for (const rule of rules) await box.api.need("POST", "/v1/projects/shop/rules", rule);
  const tell = async (message: string) => {
    const { status, body } = await box.ingest(token, { message, level: 400 });
    assert.equal(status, 202, body);
    return JSON.parse(body) as { alerted: boolean; template_id: string };
  };
  const [comes, gone, more] = [await tell(COMES), await tell(GONE), await tell(MORE)];
  await box.stop();
  over();
  const last = plant(box, {
    comes: comes.template_id,
    gone: gone.template_id,
    more: more.template_id,
  });
  const learned = Math.floor(now()) + LEARNS;
  const alertsOf = async (rule: string, state = "") => {
    const { alerts } = await box.api.need("GET", `/v1/alerts?project=shop&limit=200${state}`);
    return (alerts as Alert[]).filter((alert) => alert.rule === rule);
  };

  /** Of each hour of the clock. */
  let counts = new Map<number, number>();
  let came: number[] = [];
  let isMore = false;
  const seen = { kills: 0, restores: 0, learned: 0, fresh: 0, more: 0, few: 0, gone: 0 };

  const hearNew = async (text: string) => {
    const from = now();
    const { alerted } = await tell(text);
    if (now() < learned - MINUTE) {
      assert.equal(alerted, false, `${text}: its source is learned until ${learned}`);
      seen.learned += 1;
    } else if (from > learned + MINUTE) {
      assert.equal(alerted, true, `${text} is new`);
      seen.fresh += 1;
    }
  };
  const hearMore = async () => {
    const from = Math.floor(now() / HOUR);
    const { alerted } = await tell(MORE);
    const hour = Math.floor(now() / HOUR);
    counts.set(hour, (counts.get(hour) ?? 0) + 1);
    const [present = 0, before = 0] = [counts.get(hour), counts.get(hour - 1)];
    // Once it is open the rest goes on with it while it is unusual.
    if (from === hour && present >= 10) assert.ok(alerted, `${present} came in this hour`);
    // One is planted in each hour.
    if (present + before + 2 < 10) assert.ok(!alerted, `${present} and ${before} came`);
    if (alerted && !isMore) seen.more += 1;
    if (!alerted) seen.few += 1;
    isMore ||= alerted;
  };
  const checkMissing = async () => {
    const found = await alertsOf("gone");
    for (const { template, first_seen, opened_at } of found) {
      assert.equal(template, GONE, `${template} is called missing, it came ${came.slice(-3)}`);
      assert.equal(first_seen, last);
      assert.ok(SILENT + ran(last, opened_at) >= HOUR - MINUTE, `too early: ${opened_at - last}`);
    }
    const silent = SILENT + ran(last, now()) - MINUTE * (2 + seen.kills);
    assert.ok(found.length <= 1, "one silence, one alert");
    if (silent < HOUR + 5 * MINUTE) return;
    // Others keep the machine busy: it may take its time.
    for (let tries = 0; (await alertsOf("gone")).length === 0; tries++) {
      assert.ok(tries < 300, "nobody is told");
      await pause(100);
    }
    seen.gone += 1;
  };

  let saved: { file: string; at: number; counts: typeof counts; isMore: boolean } | null = null;
  for (let kill = 0; kill < KILLS; kill++) {
    await start();
    const until = now() + choice.between(8, 25) * MINUTE;
    await hearNew(`${word()} and ${word()} in ${word()}`);
    while (now() < until) {
      const step = choice.between(0, 5);
      if (step === 0) await hearNew(`${word()} ${word()} in ${word()}`);
      else if (step <= 3) for (let n = choice.between(2, 5); n > 0; n--) await hearMore();
      await tell(COMES);
      came.push(now());
      await pause(real(choice.between(1, 5) * MINUTE));
    }
    await checkMissing();
    if (kill % 3 === 0) {
      const file = join(kept, `${kill}.db`);
      const at = now();
      await runCommand([...program], ["backup", file, "--data", box.data, "--json"]);
      saved = { file, at, counts: new Map(counts), isMore };
      for (let n = choice.between(1, 4); n > 0; n--) await hearMore();
      await hearNew(`${word()} ${word()} on ${word()}`);
    }
    await box.kill();
    over();
    seen.kills += 1;
    await pause(real(choice.pick([0, 5, 90]) * MINUTE));
    if (saved !== null && kill % 3 === 1) {
      await runCommand(
        [...program],
        ["restore", saved.file, "--data", box.data, "--replace", "--json"],
      );
      const { at } = saved;
      ups = ups
        .filter((up) => up.from < at)
        .map((up) => ({ ...up, until: Math.min(up.until, at) }));
      ({ counts, isMore } = saved);
      came = came.filter((one) => one < at);
      seen.restores += 1;
    }
  }
  await start();
  const isOver = () =>
    now() > learned + 2 * MINUTE && SILENT + ran(last, now()) > HOUR + (12 + 2 * KILLS) * MINUTE;
  while (!isOver()) {
    await tell(COMES);
    await pause(real(5 * MINUTE));
  }
  await checkMissing();
  assert.equal((await alertsOf("gone", "&state=open")).length, 1);
  await tell(GONE);
  assert.equal((await alertsOf("gone", "&state=open")).length, 0, "it came");
  await hearNew(`${word()} ${word()} at ${word()}`);
  t.diagnostic(JSON.stringify(seen));
  assert.ok(Math.min(seen.learned, seen.fresh, seen.few, seen.gone, seen.restores) > 0, "too tame");
});
