import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { seeded } from "../../src/app/prove/seeded.ts";
import { boxProcess } from "../support/box-process.ts";
import { type Hurry, hurried, hurryWords } from "../support/hurry.ts";
import { programFile } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/**
 * A rule with for_minutes, and a box that is killed again and again while things wait: what ended in time never rings, what
 * didn't always does, once, and not before its time.
 */

/** A minute of the box is two seconds. */
const hurry: Hurry = { from: Date.now(), times: 30 };
const now = () => hurried(hurry) / 1000;
const real = (seconds: number) => (seconds * 1000) / hurry.times;
const WAIT = 60;
const THIRD = WAIT / 3;
/** After a start its sender has so long to say that it is over. */
const HOLD = 120;
const KILLS = Number(process.env["KILLS"] ?? 2);

/** Of named ones some end; of those without a name some are said again in the last third of the time. */
const kinds = ["stays", "ends", "once", "again"] as const;

/** All times are the box's seconds, taken outside of it. */
interface Firing {
  host: string;
  kind: (typeof kinds)[number];
  /** Before it was sent. */
  begun: number;
  /** When it was answered; null: the first try wasn't. */
  answered: number | null;
  /** Its end, or its second word: sent, and answered. */
  said: { from: number; until: number } | null;
}

interface Down {
  from: number;
  /** When the next process was begun. */
  until: number;
}

test("a box is killed while things wait: what ended never rings, what lasted always does", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = boxProcess([process.execPath, ...hurryWords(hurry), await programFile()]);
  t.after(() => box.discard());
  await box.start();
  const token = await box.project("shop", receiver.url);
  const rule = { match: {}, identifier_keys: ["host"], for_minutes: WAIT / 60, max_open: 0 };
  await box.api.need("PUT", "/v1/projects/shop/rules/any", rule);
  const choice = seeded(Number(process.env["SEED"] ?? 29), "waiting");
  const firings: Firing[] = [];
  const downs: Down[] = [];
  const isTaken = (event: object) =>
    box.ingest(token, event).then(
      ({ status }) => status === 202,
      () => false,
    );

  const tell = async (firing: Firing, later: number) => {
    const { host, kind } = firing;
    const isNamed = kind === "stays" || kind === "ends";
    const event = {
      message: "it fails",
      keys: { host },
      ...(isNamed && { dedup_key: host, instance: "1" }),
    };
    if (await isTaken(event)) firing.answered = now();
    else while (!(await isTaken(event))) await pause(20);
    if (kind === "stays" || kind === "once") return;
    await pause(real(later));
    const from = now();
    const next = kind === "ends" ? { ...event, status: "resolved" } : event;
    while (!(await isTaken(next))) await pause(20);
    firing.said = { from, until: now() };
  };

  let isUp = true;
  let isOver = false;
  const told: Promise<void>[] = [];
  const feed = async () => {
    while (!isOver) {
      await pause(choice.between(30, 120));
      // What fires while the box is off is sent late, or more than once, and then both may be right.
      if (!isUp) continue;
      const kind = kinds[firings.length % kinds.length] ?? "stays";
      const host = `h${firings.length}`;
      const firing: Firing = { host, kind, begun: now(), answered: null, said: null };
      firings.push(firing);
      const later = kind === "ends" ? choice.between(1, 50) : choice.between(42, 54);
      told.push(tell(firing, later));
    }
  };
  const fed = feed();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(real(choice.between(10, 2 * WAIT)));
    const from = now();
    isUp = false;
    await box.kill();
    await pause(real(choice.pick([0, 0, WAIT])));
    downs.push({ from, until: now() });
    await box.start();
    isUp = true;
  }
  isOver = true;
  await Promise.all([fed, ...told]);
  const last = now() + WAIT + HOLD;
  await until(() => now() > last, "everything is due");
  const { count } = await box.api.need("GET", "/v1/projects/shop/rules/any/waiting");
  assert.equal(count, 0, "something still waits");
  const rang = receiver.received.map(({ body }) => JSON.parse(body) as Opened);
  judge(t, { firings, downs, rang });
});

interface Opened {
  event: string;
  alert_id: string;
  timestamp: number;
  identifiers: { host: string };
}

function judge(
  t: { diagnostic(message: string): void },
  { firings, downs, rang }: { firings: Firing[]; downs: Down[]; rang: Opened[] },
): void {
  const opened = rang.filter(({ event }) => event === "alert.opened");
  const byHost = Map.groupBy(opened, ({ identifiers }) => identifiers.host);
  const seen = { rings: 0, ringsOverKills: 0, never: 0, neverOverKills: 0, either: 0 };
  for (const firing of firings) {
    const { host, begun } = firing;
    const alerts = byHost.get(host) ?? [];
    const ids = new Set(alerts.map(({ alert_id }) => alert_id));
    const what = JSON.stringify({ firing, downs, alerts });
    assert.ok(ids.size <= 1, `${host} rang twice: ${what}`);
    for (const { timestamp } of alerts)
      assert.ok(timestamp >= Math.floor(begun + WAIT), `${host} rang too early: ${what}`);
    const must = rings(firing, downs);
    const isOverKill = downs.some(({ from }) => from > begun && from < begun + WAIT);
    if (must === null) seen.either += 1;
    else {
      assert.equal(ids.size === 1, must, `${host} ${must ? "never rang" : "rang"}: ${what}`);
      seen[must ? "rings" : "never"] += 1;
      if (isOverKill) seen[must ? "ringsOverKills" : "neverOverKills"] += 1;
    }
  }
  t.diagnostic(JSON.stringify({ firings: firings.length, kills: downs.length, ...seen }));
  assert.ok(Math.min(seen.ringsOverKills, seen.neverOverKills) >= downs.length, "too few to tell");
}

/** Whether it has to ring; null: what it said came so late, or so often, that both are right. */
function rings({ kind, begun, answered, said }: Firing, downs: Down[]): boolean | null {
  if (kind === "stays") return true;
  if (answered === null) return null;
  if (kind === "once") return false;
  if (said === null) return null;
  if (kind === "again")
    return said.from > answered + WAIT - THIRD + 1 && said.until < begun + WAIT - 1 ? true : null;
  if (said.until < begun + WAIT - 1) return false;
  // The box was off when its time was over: its sender is listened to after the start.
  const down = downs.find(({ from, until }) => from < begun + WAIT && until > answered + WAIT);
  return down !== undefined && said.until < down.until + HOLD ? false : null;
}
