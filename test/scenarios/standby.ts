import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { alertsIn } from "../support/kept-box.ts";
import { type Machine, type TwoMachinesOptions, twoMachines } from "../support/two-machines.ts";
import { lookOn, type Seen } from "./seen-outside.ts";

/** What befalls the machine that serves, or the way to the database. */
export type Blow =
  | "SIGTERM"
  | "SIGTERM beside a new one"
  | "SIGKILL"
  | "cut, then killed"
  | "SIGSTOP"
  | "power off"
  | "owner cut"
  | "standby cut"
  | "both cut"
  | "link cut";

const TAKEN_MS = 60_000;
/** A large store is fetched by a new machine, or read through by one that had it. */
const FETCHED_MS = 600_000;
/** Longer than a machine lives after its latest word. */
const CUT_MS = 13_000;
/** Shorter than until a machine goes on alone, and than it has to hear the database before it takes the box. */
const SHORT_MS = 2_000;
/** A machine whose box was taken ends with its next word. */
const ENDS_MS = 30_000;

/** Begins the message of whoever waited in vain. */
export const IN_VAIN = "it never happens that ";
/** Where no page comes for so long, none is on its way. */
const QUIET_MS = 3_000;

async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = TAKEN_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `${IN_VAIN}${what}`);
    await pause(50);
  }
}

const serves = async (machine: Machine) => (await machine.role())?.status === 200;
const standsBy = async (machine: Machine) => (await machine.role())?.role === "standby";

/** What a reader hears who comes while the machine stands still; null: nothing. */
const readFrom = ({ url, api }: Machine): Promise<number | null> =>
  fetch(`${url}/v1/projects`, { headers: { authorization: `Bearer ${api.key}` } }).then(
    ({ status }) => status,
    () => null,
  );

/**
 * Two machines with senders, one blow after the other. What was answered is in the record, no alert id is seen twice, and
 * each page rings. `look` is given the machine that stands by, before anything befalls it. `isLinked`: they know each
 * other; some senders know only the one that stands by, and others send by UDP. What was seen of each blow.
 */
export async function standbyStory(
  t: TestContext,
  blows: readonly Blow[],
  {
    look = async () => {},
    ...how
  }: { look?(standby: Machine): Promise<void> } & TwoMachinesOptions = {},
): Promise<Seen[]> {
  const { isLinked = false } = how;
  const { one, two, ask, ledger } = await twoMachines(t, how);
  await until("the other stands by", () => standsBy(two), FETCHED_MS);
  const syslog = { name: "syslog", kind: "syslog", options: { logfmt: true } };
  if (isLinked) await one.api.need("POST", "/v1/projects/shop/sources", syslog);
  await look(two);
  const ends = new AbortController();
  t.after(() => ends.abort());
  let known = two;
  const senders = [ledger.sending(ends.signal)];
  if (isLinked)
    senders.push(
      ledger.sending(ends.signal, () => [known]),
      ledger.shooting(ends.signal),
    );
  const rungBy = async (from: number) =>
    until("a page rings", () => ledger.pages.some(({ n }) => (ledger.began.get(n) ?? 0) > from));
  const seen: (() => Seen)[] = [];
  let [owner, other] = [one, two];
  let epoch = (await one.role())?.epoch ?? 0;
  let taken: number | null = null;

  const changesHands = async (from: number) => {
    await until("the other takes the box", () => serves(other), FETCHED_MS);
    // Events that are sent from now on only the new owner can take.
    const since = performance.now();
    await rungBy(since);
    taken = performance.now() - from;
    [owner, other] = [other, owner];
    epoch++;
  };
  const isRefused = async (late: Machine) => {
    const ended = await Promise.race([late.ended(), pause(ENDS_MS)]);
    assert.equal(ended?.code, 1, "the machine whose box was taken ends, and is started again");
    await late.start();
  };
  const leaves = async () => {
    const from = performance.now();
    const ended = owner.stop();
    await changesHands(from);
    assert.equal((await ended).code, 0);
    await other.start();
  };
  const steps: Record<Blow, () => Promise<void>> = {
    SIGTERM: leaves,
    /** Told to stop while the other machine fetches the whole store for the first time. */
    async "SIGTERM beside a new one"() {
      await other.stop();
      for (const name of readdirSync(other.data))
        if (!name.startsWith("box.key")) rmSync(join(other.data, name), { recursive: true });
      await other.start();
      await leaves();
    },
    async SIGKILL() {
      const from = performance.now();
      await owner.kill();
      await changesHands(from);
      await other.start();
    },
    /** What it would have told before the database had it is nowhere. */
    async "cut, then killed"() {
      const from = performance.now();
      owner.reach(false);
      await pause(SHORT_MS);
      await owner.kill();
      owner.reach(true);
      await changesHands(from);
      await other.start();
    },
    async SIGSTOP() {
      const from = performance.now();
      owner.signal("SIGSTOP");
      const read = readFrom(owner);
      await changesHands(from);
      other.signal("SIGCONT");
      assert.notEqual(await read, 200, "a machine whose box was taken tells nobody of it");
      await isRefused(other);
    },
    async "power off"() {
      const from = performance.now();
      await owner.powerOff();
      await changesHands(from);
      for (const isReached of [false, true]) {
        other.reach(isReached);
        other.reachLink(isReached);
      }
      await other.start();
    },
    async "owner cut"() {
      const from = performance.now();
      owner.reach(false);
      await changesHands(from);
      other.reach(true);
      await isRefused(other);
    },
    async "standby cut"() {
      other.reach(false);
      const from = performance.now();
      await rungBy(from);
      await pause(CUT_MS);
      await rungBy(from + CUT_MS);
      other.reach(true);
    },
    /** Senders who know the machine that stands by wait meanwhile. */
    async "link cut"() {
      owner.reachLink(false);
      await pause(CUT_MS);
      assert.ok(await serves(owner), "it is still the owner's");
      owner.reachLink(true);
      await rungBy(performance.now());
    },
    async "both cut"() {
      owner.reach(false);
      other.reach(false);
      const from = performance.now();
      await pause(CUT_MS);
      await rungBy(from);
      other.reach(true);
      await pause(SHORT_MS);
      owner.reach(true);
      // Who takes must have heard the database for ten seconds: by then the owner is heard again.
      await pause(CUT_MS);
      assert.ok(await serves(owner), "it is still the owner's");
    },
  };
  for (const blow of blows) {
    await until("the other stands by", () => standsBy(other), FETCHED_MS);
    await until("its copy is whole", async () => (await other.role())?.behind === 0, FETCHED_MS);
    known = other;
    const before = ledger.answered.size;
    await until("events are answered", () => ledger.answered.size > before + 5);
    const ended = lookOn(ledger, blow, owner);
    taken = null;
    await steps[blow]();
    seen.push(ended(taken));
  }
  ends.abort();
  await Promise.all(senders);
  await until("each page has rung", () => {
    const rung = new Set(ledger.pages.map(({ n }) => n));
    return [...ledger.answered].every((n) => rung.has(n));
  });
  // Of datagrams nobody is told: they ring, or are lost.
  for (let before = -1; before !== ledger.pages.length; await pause(QUIET_MS))
    before = ledger.pages.length;
  await until(
    "what was confirmed alone is taken",
    async () => (await ask("SELECT 1 FROM tenant_handed")).length === 0,
  );
  const stores = await ask("SELECT epoch FROM tenant_stores");
  assert.deepEqual(stores, [{ epoch }], "it was taken where it had to be, and nowhere else");
  await owner.stop();
  const { numbers, ids } = alertsIn(owner.data);
  assert.deepEqual(
    [...ledger.answered].filter((n) => !numbers.has(n)),
    [],
    `of ${ledger.answered.size} that were answered`,
  );
  assert.equal(new Set(ids).size, ids.length);
  // What a machine told alone was taken as another alert by who had the box.
  const isKept = new Set(ids.map(String));
  const gone = ledger.pages.filter(({ id }) => !isKept.has(id));
  if (!blows.includes("owner cut"))
    assert.deepEqual(gone, [], "each alert that was told outside is there");
  const eventsOf = new Map<string, string>();
  for (const { id, n } of ledger.pages) {
    assert.equal(eventsOf.get(id) ?? n, n, `alert ${id} was two alerts outside`);
    eventsOf.set(id, n);
  }
  t.diagnostic(`${ledger.answered.size} of ${ledger.sent} events answered`);
  return seen.map((one) => one());
}
