import { assignAlert } from "../../../src/core/alerts/assign.ts";
import { startDrill } from "../../../src/core/alerts/drill.ts";
import { liftSilence, makeSilence, rewriteSilence } from "../../../src/core/alerts/silencing.ts";
import { escalateNow, snooze, unacknowledge } from "../../../src/core/alerts/verbs.ts";
import { getProject } from "../../../src/core/projects/projects.ts";
import { getRule } from "../../../src/core/projects/rules.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { ServiceError } from "../../../src/ground/kit/errors.ts";
import type { Tx } from "../../../src/ground/store/store.ts";
import { change } from "../acts.ts";
import type { Machine } from "../engine.ts";
import type { Seeded } from "../seeded.ts";
import { sendersWord } from "../senders.ts";
import { editLadder } from "../sharing.ts";
import { lineOf, makeNamed, PEOPLE, WORDS, type World } from "../world.ts";
import type { Beats } from "./beats.ts";
import { BEATS, type Box } from "./box.ts";
import { changesOf } from "./calendar.ts";
import { type Asked, type Ledger, readWord, templateWord } from "./ledger.ts";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
export const ZONES = ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "UTC"] as const;

/** What an act did, as far as laws ask for it. */
export interface Did {
  what: string;
  /** The alert that somebody did it to. */
  alert?: number;
  /** It was refused. */
  refused?: boolean;
  fired?: Fired;
  /** A name that its sender ended. */
  ended?: string;
}

/** One event, as its sender knows it. */
export interface Fired {
  rule: string;
  host: string;
  /** Its name, or the word that stands for its template. */
  subject: string;
  level: number;
}

export interface Scene {
  box: Box;
  machine: Machine;
  world: World;
  random: Seeded;
  ledger: Ledger;
  beats: Beats;
  /** After each look and act. */
  each(did?: Did): void;
}

const ACTS: readonly [weight: number, act: (scene: Scene) => Did | Promise<Did>][] = [
  [30, fire],
  [6, said],
  [8, (scene) => onSome(scene, "ack", (id) => scene.box.engine.ack(id))],
  [7, (scene) => onSome(scene, "resolve", (id) => scene.box.engine.resolve(id))],
  [14, silence],
  [7, vary],
  [7, silenceOne],
  [5, endOne],
  [5, changeOne],
  [8, sleep],
  [4, (scene) => verb(scene, "unack", (tx, id) => unacknowledge(tx, id, "ann"))],
  [3, (scene) => verb(scene, "escalate", (tx, id) => escalateNow(tx, id, "ann"))],
  [3, assign],
  [2, drill],
  [14, (scene) => scene.beats.act(scene)],
  [4, jump],
  [6, restart],
  [3, edit],
  [4, share],
  [2, drop],
  [1, leap],
];
const ALL = ACTS.reduce((sum, [weight]) => sum + weight, 0);
const WAITS = [1, MINUTE, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR] as const;

/** Waits, and does something. Often at the very second at which something is due, or beside it. */
export async function next(scene: Scene): Promise<void> {
  const { box, machine, random } = scene;
  const due = box.nextLook();
  const now = box.engine.now();
  const at =
    due !== null && random.chance(0.3)
      ? Math.max(now, due + random.pick([-1, 0, 0, 0, 1]))
      : now + random.pick(WAITS) * (1 + random.below(3));
  if (random.chance(0.5)) await box.runUntil(at, () => scene.each());
  else {
    await box.runUntil(at - 1, () => scene.each());
    machine.pass(at - box.engine.now());
  }
  let left = random.below(ALL);
  for (const [weight, act] of ACTS) {
    left -= weight;
    if (left >= 0) continue;
    scene.each(await act(scene));
    break;
  }
  if ((box.nextLook() ?? Infinity) > box.engine.now()) return;
  await box.look();
  scene.each();
}

function fire({ box, random, world, ledger }: Scene): Did {
  const { engine } = box;
  const rule = random.below(world.rules.length);
  const host = random.pick(["a", "a", "b", "c"]);
  const word = random.pick(WORDS);
  if (random.chance(0.3)) {
    engine.event(rule, host, word, makeNamed(random));
    return saidLast(engine);
  }
  const level = random.pick([300, 400, 400, 500]);
  const zone = random.pick(["", "x", "x", "x", "y", "z"]);
  return send({ box, ledger }, { rule, host, word, level, zone });
}

/** One event without a name; `zone` empty: it says nothing of that. */
function send(
  { box: { engine }, ledger }: Pick<Scene, "box" | "ledger">,
  of: { rule: number; host: string; word: string; level: number; zone: string },
): Did {
  const { host, word, level, zone } = of;
  const rule = `rule ${of.rule}`;
  const message = lineOf(of.rule, word);
  const keys: Record<string, string> = zone === "" ? { host } : { host, zone };
  engine.submit(engine.source, [{ message, level, keys, tags: null }]);
  readWord(ledger, { rule, word });
  const subject = templateWord(ledger, { rule, word });
  return { what: "fire", fired: { rule, host, subject, level } };
}

function said({ box, random }: Scene): Did {
  sendersWord(box.engine, random);
  return saidLast(box.engine);
}

/** By name: that it fires, perhaps again, or that it ended. */
function saidLast({ facts }: Scene["box"]["engine"]): Did {
  const fact = facts.at(-1);
  if (fact?.what === "event" && fact.named !== null) {
    const { rule, host, named } = fact;
    const fired = { rule: `rule ${rule}`, host, subject: `@${named.key}`, level: 400 };
    return { what: "fire", fired };
  }
  if (fact?.what === "concluded" && fact.status === "resolved")
    return { what: "fire", ended: fact.key };
  return { what: "fire" };
}

function someOf({ box, random }: Scene): number | null {
  const ids = box.engine.store.sql("SELECT id FROM alerts ORDER BY id").pluck().all() as number[];
  return ids.length === 0 ? null : random.pick(ids.slice(-5));
}

function onSome(scene: Scene, what: string, act: (id: number) => void): Did {
  const alert = someOf(scene);
  if (alert === null) return { what: "nothing" };
  act(alert);
  return { what, alert };
}

/** As a route does it: what is refused leaves nothing. */
function write({ box }: Scene, what: string, act: (tx: Tx) => unknown): Did {
  try {
    box.engine.store.write(act);
    return { what };
  } catch (error) {
    if (error instanceof ServiceError) return { what, refused: true };
    throw error;
  }
}

function verb(scene: Scene, what: string, act: (tx: Tx, id: number) => unknown): Did {
  const alert = someOf(scene);
  if (alert === null) return { what: "nothing" };
  return { ...write(scene, what, (tx) => act(tx, alert)), alert };
}

function assign(scene: Scene): Did {
  const { random } = scene;
  const accounts = [random.pick(PEOPLE)];
  const keep_ladder = random.chance(0.5);
  return verb(scene, keep_ladder ? "assign" : "assign alone", (tx, id) =>
    assignAlert(tx, id, { by: "bob", assign: { accounts, keep_ladder } }),
  );
}

function sleep(scene: Scene): Did {
  const { box, random, ledger } = scene;
  const seconds = random.pick([1, MINUTE, 20 * MINUTE, 3 * HOUR, 2 * DAY]);
  const did = verb(scene, "snooze", (tx, id) =>
    snooze(tx, id, { until: box.engine.now() + seconds, accountId: "cat" }),
  );
  if (did.alert !== undefined && !did.refused)
    ledger.wakes.set(did.alert, ledger.elapsed(box.engine) + seconds);
  return did;
}

function drill(scene: Scene): Did {
  const name = scene.random.pick([BEATS, "rule 0"]);
  return write(scene, "drill", (tx) =>
    startDrill(tx, getRule(tx, getProject(tx, "p").id, name), { by: "ann", message: "" }),
  );
}

const LABELS = [
  { key: "zone", op: "eq", value: "x" },
  { key: "zone", op: "neq", value: "y" },
  { key: "zone", op: "in", value: ["x", "y"] },
  { key: "zone", op: "not_in", value: ["z"] },
  { key: "zone", op: "matches", value: "[xz]" },
  { key: "zone", op: "not_matches", value: "x|y" },
  { key: "host", op: "eq", value: "a" },
  { key: "host", op: "neq", value: "a" },
] as const;

/** Of one rule, one host, labels, several of these, below a level or everything; once or again and again, now or later. */
function silence(scene: Scene): Did {
  const { random, world } = scene;
  return makeOne(scene, {
    rule: random.chance(0.6) ? `rule ${random.below(world.rules.length)}` : null,
    host: random.chance(0.4) ? random.pick(["a", "b"]) : null,
    labels: random.chance(0.4) ? [random.pick(LABELS)] : [],
    below: random.chance(0.15) ? 400 : null,
    critical: random.chance(0.5),
  });
}

/** Of an alert that stands, by what it says of itself now. */
function silenceOne(scene: Scene): Did {
  const { random } = scene;
  const of = standing(scene);
  if (of === undefined) return { what: "nothing" };
  const { zone } = JSON.parse(of.labels ?? "{}");
  const taking = [...LABELS, { key: "zone", op: "eq", value: zone ?? "x" } as const];
  const rule = random.chance(0.5) ? of.rule : null;
  const labels = [random.chance(0.7) ? (taking.at(-1) as (typeof taking)[0]) : random.pick(taking)];
  const did = makeOne(scene, { rule, host: null, labels, below: null, critical: true });
  if (random.chance(0.3)) return did;
  scene.each(did);
  return vary(scene);
}

/** One of the latest alerts that stand, most often one that is kept quiet. */
function standing({ box, random }: Scene) {
  const all = box.engine.store
    .sql(
      `SELECT rule, last_message AS message, identifiers, labels, silenced_by FROM alerts
       WHERE state <> 'resolved' AND drill = 0 AND rule LIKE 'rule %' ORDER BY id`,
    )
    .all() as { rule: string; message: string; identifiers: string; labels: string | null }[];
  const held = all.filter((row) => "silenced_by" in row && row.silenced_by !== null);
  return random.pick((held.length > 0 && random.chance(0.7) ? held : all).slice(-4));
}

/** Its next event says something else of itself. */
function vary(scene: Scene): Did {
  const { box, random, ledger } = scene;
  const of = standing(scene);
  const host = of && JSON.parse(of.identifiers).host;
  const rule = Number(of?.rule.slice("rule ".length));
  const word = WORDS.find((one) => of?.message === lineOf(rule, one));
  if (of === undefined || host === undefined || word === undefined) return { what: "nothing" };
  return send(
    { box, ledger },
    { rule, host, word, level: 300, zone: random.pick(["x", "y", "z"]) },
  );
}

type Span = Pick<Asked, "rule" | "host" | "labels" | "below" | "critical">;

function makeOne({ box, random, ledger, ...scene }: Scene, of: Span): Did {
  const now = box.engine.now();
  const { rule, host, labels, below, critical } = of;
  const repeat = random.pick(["none", "none", "none", "daily", "weekly"] as const);
  const from = now + random.pick([0, 0, 0, 1, MINUTE, HOUR, DAY]) - random.below(2) * HOUR;
  const longest = repeat === "none" ? 2 * DAY : 10 * HOUR;
  const length = 1 + random.below(random.pick([2 * MINUTE, HOUR, longest]));
  const startsAt = repeat === "none" ? Math.max(now, from) : from;
  const overAt =
    repeat === "none"
      ? startsAt + length
      : now + random.pick([HOUR, 3 * DAY, 300 * DAY]) + random.below(DAY);
  const zone = random.pick(ZONES);
  const endsAt = startsAt + length;
  const body = {
    match: { rule, identifiers: host === null ? {} : { host }, below_level: below },
    labels,
    all: rule === null && host === null && labels.length === 0,
    critical,
    reason: "story",
    repeat,
    timezone: zone,
    starts_at: startsAt,
    ends_at: endsAt,
    repeat_until: repeat === "none" ? null : overAt,
    kind: random.pick(["silence", "maintenance"]),
  };
  const asked: Asked = { id: "", ...of, startsAt, endsAt, overAt, repeat, zone };
  const did = write({ box, random, ledger, ...scene }, "silence", (tx) => {
    asked.id = makeSilence(tx, { write: silenceWrite.parse(body), createdBy: "ann" }).id;
  });
  if (!did.refused) ledger.silences.push(asked);
  return did;
}

function endOne(scene: Scene): Did {
  const { random, ledger } = scene;
  if (ledger.silences.length === 0) return { what: "nothing" };
  const asked = random.pick(ledger.silences);
  const did = write(scene, "end silence", (tx) => liftSilence(tx, asked.id));
  ledger.silences.splice(ledger.silences.indexOf(asked), 1);
  return did;
}

/** Longer or shorter than it was. */
function changeOne(scene: Scene): Did {
  const { random, ledger } = scene;
  if (ledger.silences.length === 0) return { what: "nothing" };
  const asked = random.pick(ledger.silences);
  const by = random.pick([-1, 1, 1]) * (1 + random.below(random.pick([10 * MINUTE, 3 * HOUR])));
  const isOnce = asked.repeat === "none";
  const end = (isOnce ? asked.endsAt : asked.overAt) + by;
  const did = write(scene, "change silence", (tx) =>
    rewriteSilence(tx, asked.id, isOnce ? { ends_at: end } : { repeat_until: end }),
  );
  if (did.refused) return did;
  if (isOnce) asked.endsAt = end;
  asked.overAt = end;
  return did;
}

function jump({ box, machine, random }: Scene): Did {
  machine.jump(random.pick([-1, 1]) * (3 + random.below(random.pick([60, 7200, 3 * DAY]))));
  box.engine.look();
  return { what: "jump" };
}

async function restart({ box, random, each }: Scene): Promise<Did> {
  const { engine } = box;
  const crash = random.chance(0.5);
  const seconds = random.pick([1, 30, 600, 7200, DAY]) * (1 + random.below(3));
  if (crash) {
    engine.beat();
    each();
    await box.runUntil(engine.now() + random.below(10), () => each());
  }
  const back = random.chance(0.2) && !crash ? -(seconds + 60 + random.below(5 * DAY)) : 0;
  const hidden = back !== 0 ? back : random.chance(0.1) ? random.below(3 * DAY) : 0;
  engine.restart({ seconds, hidden, crash });
  await box.look();
  return { what: "restart" };
}

function edit({ box, random, world }: Scene): Did {
  try {
    change(box.engine, random, world);
  } catch (error) {
    // The reference's fact is told before the box is asked; what it refuses changes nothing.
    if (!(error instanceof ServiceError)) throw error;
    box.engine.facts.pop();
  }
  return { what: "edit" };
}

/** Something may happen before the alerts of its rules have followed the ladder. */
function share({ box, random, world }: Scene): Did {
  editLadder(box.engine, random, world);
  return { what: "ladder" };
}

/** A rule goes by configuration, and with it its ladders. */
function drop({ box, random, world }: Scene): Did {
  box.engine.drop(random.below(world.rules.length));
  return { what: "drop" };
}

/** Nothing is wrong and no job is watched for weeks, up to the day of a clock change. */
async function leap({ box, random, beats, each }: Scene): Promise<Did> {
  const { engine } = box;
  const now = engine.now();
  const changes = changesOf(ZONES).filter((at) => at > now + DAY && at < now + 250 * DAY);
  if (changes.length === 0) return { what: "nothing" };
  const target = random.pick(changes.slice(0, 4)) - random.below(DAY);
  await beats.pauseAll(box);
  const standing = engine.store.sql("SELECT id FROM alerts WHERE state <> 'resolved'").pluck();
  for (const id of standing.all() as number[]) engine.resolve(id);
  each({ what: "resolve all" });
  await box.runUntil(target, () => each());
  engine.beat();
  return { what: "leap" };
}
