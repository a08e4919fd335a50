import { hash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { getAlertRow } from "../../../src/core/alerts/alert.ts";
import { writeLateTimeline } from "../../../src/core/alerts/timeline.ts";
import { type Log, silentLog } from "../../../src/ground/kit/log.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { fileSealer, type Sealer } from "../../../src/ground/kit/sealer.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { rightOf } from "../../../src/out/paging/right.ts";
import { takeShown } from "../../../src/out/paging/shown.ts";
import { memoryOrTemp } from "../../support/memory.ts";
import { change, fire, onSome } from "../acts.ts";
import { type Engine, type Machine, machine, startEngine } from "../engine.ts";
import { numbersOfStory } from "../numbers.ts";
import { type Seeded, seeded } from "../seeded.ts";
import { sendersWord } from "../senders.ts";
import { editLadder } from "../sharing.ts";
import { makeWorld, PEOPLE, type World } from "../world.ts";
import { addContact, contactsOf, furnish, meddle, nameFallback, setRules } from "./cast.ts";
import { type Laws, lawsOf } from "./laws.ts";
import { type Pager, startPager } from "./pager.ts";
import { rise } from "./rises.ts";
import { moods, type Services, startServices } from "./services.ts";

export interface PeopleStory {
  /** Sentences about every law that was broken; empty is what is wanted. */
  faults: string[];
  /** SHA-256 over the rows of pages and all that the services saw. */
  log: string;
  pages: number;
  messages: number;
  bundles: number;
  /** Alerts that became worse, and paged somebody by that. */
  rises: number;
  failed: number;
  withdrawn: number;
  unreachable: number;
  fallbacks: number;
  /** Fallbacks that were paged because no page got through. */
  undelivered: number;
  /** Pages that a device said that it showed. */
  shown: number;
  restarts: number;
}

export interface PeopleStage {
  play(seed: number): Promise<PeopleStory>;
  close(): void;
}

export function openPeopleStage(): PeopleStage {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-people-"));
  const [fresh, path] = [join(directory, "fresh.db"), join(directory, "box.db")];
  const clock = machine();
  openStore({ path: fresh, kind: "box", clock, random: systemRandom }).close();
  const sealer = fileSealer({
    dir: directory,
    name: "box.key",
    inUse: [],
    clock,
    random: systemRandom,
  });
  return {
    play(seed) {
      for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) rmSync(path + end);
      copyFileSync(fresh, path);
      return play(seed, { path, sealer });
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

interface Scene {
  engine: Engine;
  clock: Machine;
  random: Seeded;
  world: World;
  services: Services;
  laws: Laws;
  pager: Pager;
}

const ACTS = 70;
/** An hour of trying, the longest rest and a look. */
const ALL_OVER_MS = 2 * 3_600_000;

async function play(seed: number, at: { path: string; sealer: Sealer }): Promise<PeopleStory> {
  const random = seeded(seed);
  const world = makeWorld(random);
  const clock = machine();
  const engine = startEngine({ path: at.path, world, machine: clock, random });
  const errors: unknown[] = [];
  const log: Log = { ...silentLog, error: (what: unknown) => void errors.push(what) };
  try {
    furnish(engine.store, random);
    const numbers = numbersOfStory(seed);
    const laws: Laws = lawsOf({
      store: () => engine.store,
      machine: clock,
      calls: () => services.calls,
    });
    const services = startServices({ random, mono: clock.mono, onCall: laws.onCall });
    const onStep = laws.onStep;
    const pager = startPager({ engine, machine: clock, services, log, sealer: at.sealer, onStep });
    const scene = { engine, clock, random, world, services, laws, pager };
    for (let left = ACTS; left > 0 && laws.faults.length === 0; left -= 1) {
      const wait = random.pick([0, 300, 1_000, 4_000, 7_000, 30_000, 100_000, 900_000, 4_000_000]);
      await pager.pass(wait + random.below(1 + wait));
      laws.read();
      await act(scene);
      laws.read();
      numbers.read(engine.store);
    }
    await rest(scene);
    laws.faults.push(...numbers.faults(engine.store));
    return told(scene, [...errors, ...engine.errors]);
  } finally {
    engine.close();
  }
}

async function act(scene: Scene): Promise<void> {
  const { engine, clock, random, world, services, laws, pager } = scene;
  const { store } = engine;
  const kind = random.below(100);
  if (kind < 8) {
    const fault = rise(engine, random);
    if (fault !== null) laws.faults.push(fault);
  } else if (kind < 34) for (let n = 1 + random.below(4); n > 0; n -= 1) fire(engine, random);
  else if (kind < 42) onSome(engine, random, (id) => engine.ack(id));
  else if (kind < 50) onSome(engine, random, (id) => engine.resolve(id));
  else if (kind < 54) sendersWord(engine, random);
  else if (kind < 56) change(engine, random, world);
  else if (kind < 58) editLadder(engine, random, world);
  else if (kind < 59) engine.remove(random.pick(PEOPLE));
  else if (kind < 62) {
    clock.jump(random.pick([-1, 1]) * (3 + random.below(random.pick([60, 7200]))));
    engine.look();
    engine.beat();
  } else if (kind < 70) await restart(scene);
  else if (kind < 86) {
    const contact = random.pick(contactsOf(store));
    if (contact !== undefined) services.mood(contact.id, random.pick(moods));
  } else if (kind < 90) addContact(store, random, random.pick(PEOPLE));
  else if (kind < 95) meddle(store, random);
  else if (kind < 98) setRules(store, random, random.pick(PEOPLE));
  else nameFallback(store, random);
  if (random.chance(0.3)) show(scene);
  if (random.chance(0.2)) press(scene);
  if (random.chance(0.2)) await pager.flush();
}

/** A device says that it showed what was sent to it, taken or not answered for yet: often late, and again. */
function show({ engine, random, services }: Scene): void {
  const sent = services.calls
    .slice(-40)
    .filter(({ kind, took, ended }) => kind === "web_push" && (took || ended === null));
  const unanswered = sent.filter(({ ended }) => ended === null);
  const call = random.pick(unanswered.length > 0 ? unanswered : sent);
  if (call === undefined) return;
  call.took = true;
  const { contact: contactId, name } = call;
  engine.store.write((tx) =>
    takeShown(
      tx,
      { tell: writeLateTimeline },
      { tenantId: "", contactId, name, until: tx.at + 86_400 },
    ),
  );
}

/** Somebody presses a button of any message of before, taken by its service or not. */
function press({ engine, random, services, laws }: Scene): void {
  const call = random.pick(services.calls.filter(({ handle }) => handle !== null).slice(-200));
  if (call?.handle == null) return;
  const { store } = engine;
  const right = rightOf(store, Math.floor(store.clock.now() / 1000), { handle: call.handle });
  const named = (right?.named ?? []).map(({ alertId }) => alertId);
  laws.onPress(call, named);
  for (const id of named) if (getAlertRow(store, id).state === "open") engine.ack(id);
}

/** In order or by a kill, often with messages under way or answered and not written. */
async function restart({ engine, random, laws, pager, services }: Scene): Promise<void> {
  const crash = random.chance(0.7);
  engine.beat();
  // What is answered now is not written any more.
  if (random.chance(0.5)) services.answer();
  const seconds = random.pick([1, 5, 40, 600, 5_000]);
  await pager.kill();
  const hidden = random.chance(0.1) ? random.below(7200) : 0;
  engine.restart({ seconds, hidden, crash });
  pager.again();
  laws.onStart(hidden !== 0);
  engine.look();
}

/** Services are well again and all alerts are over: nothing may be left. */
async function rest({ engine, services, laws, pager }: Scene): Promise<void> {
  services.heal();
  await pager.pass(300_000);
  const open = engine.store.sql("SELECT id FROM alerts WHERE state <> 'resolved'").pluck().all();
  for (const id of open as number[]) engine.resolve(id);
  await pager.pass(ALL_OVER_MS);
  laws.atEnd();
}

function told({ engine, services, laws }: Scene, errors: readonly unknown[]): PeopleStory {
  const { store, facts } = engine;
  const count = (sql: string) => Number(store.sql(`SELECT count(*) FROM ${sql}`).pluck().get());
  const rows = store.sql("SELECT * FROM pages ORDER BY id").raw().all();
  const history = store.sql("SELECT * FROM timeline ORDER BY id").raw().all();
  return {
    faults: [...errors.map((error) => `logged: ${JSON.stringify(error)}`), ...laws.faults],
    log: hash("sha256", JSON.stringify([rows, history, services.calls])),
    pages: laws.made.pages,
    messages: services.calls.length,
    bundles: laws.made.bundles,
    rises: laws.made.rises,
    failed: count("pages WHERE status = 'failed'"),
    withdrawn: count("pages WHERE status = 'withdrawn'"),
    unreachable: count("timeline WHERE kind = 'unreachable'"),
    fallbacks: count("timeline WHERE kind = 'fallback'"),
    undelivered: count(
      "timeline WHERE kind = 'fallback' AND json_extract(detail, '$.why') = 'undelivered'",
    ),
    shown: count("pages WHERE shown_at IS NOT NULL"),
    restarts: facts.filter(({ what }) => what === "started").length - 1,
  };
}
