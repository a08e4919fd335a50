import assert from "node:assert/strict";
import { TICK_MS } from "../../../src/ground/store/record/standing.ts";
import { seeded } from "../seeded.ts";
import { createDatabase, type Fate } from "./database.ts";
import { createMachine, type Planted } from "./machine.ts";

const STEPS = 1_200;
const HEALED = 400;
/** A box that can serve may be without an owner for so long. */
const NOBODY_MS = 45_000;

/**
 * Two machines of one box, and everything between them: cuts, lost answers, kills at each step, and starts. Each event is
 * sent once. What was answered is in the record once, and nothing is there twice.
 */
export function playMachines(seed: number, planted: Planted | null = null) {
  const random = seeded(seed);
  const clock = { ms: 1_000_000 };
  const database = createDatabase(clock);
  const answered = new Set<string>();
  const counts = { sent: 0, alone: 0, handed: 0, takings: 0 };
  let isHealed = false;
  const wasAlone = new Set<unknown>();
  const machines = ["a", "b"].map((node) => {
    const line = { isCut: false, poor: 0 };
    const fate = (): Fate => {
      if (isHealed) return "answered";
      if (line.isCut) return random.chance(0.05) ? "lost" : "away";
      return random.chance(line.poor) ? random.pick(["lost", "away"] as const) : "answered";
    };
    const machine = createMachine(node, {
      clock,
      database,
      random,
      fate,
      planted,
      answered: (event) => void answered.add(event),
    });
    return { machine, line, stopped: 0 };
  });
  const tick = () => {
    clock.ms += TICK_MS;
    for (const one of machines) {
      if (one.stopped > 0) one.stopped--;
      else one.machine.tick();
    }
    counts.handed = Math.max(counts.handed, database.rows().length);
    if (machines.some(({ machine }) => machine.isAlone())) counts.alone++;
  };
  const [first, second] = machines as [(typeof machines)[0], (typeof machines)[0]];
  first.machine.start();
  for (let i = 0; i < 40; i++) tick();
  second.machine.start();
  for (let i = 0; i < STEPS; i++) {
    const one = random.pick(machines);
    if (random.chance(0.01)) one.line.isCut = !one.line.isCut;
    if (random.chance(0.01)) for (const { line } of machines) line.isCut = false;
    if (random.chance(0.003)) for (const { line } of machines) line.isCut = true;
    if (random.chance(0.01)) one.line.poor = random.pick([0, 0, 0.1, 0.5]);
    if (random.chance(0.006)) one.machine.kill();
    // Where things end, and begin.
    if (!one.machine.isServing() && random.chance(0.03)) one.machine.kill();
    if (!one.machine.isAlone() && wasAlone.delete(one.machine) && random.chance(0.5)) {
      one.line.isCut = true;
      if (random.chance(0.5)) one.machine.kill();
    }
    if (one.machine.isAlone()) wasAlone.add(one.machine);
    if (one.machine.isServing() && database.rows().length > 0 && random.chance(0.1))
      one.line.isCut = true;
    if (random.chance(0.02)) one.machine.start();
    if (random.chance(0.003)) one.stopped = random.below(120);
    if (random.chance(0.3)) {
      const event = `e${counts.sent}`;
      if (random.pick(machines).stopped === 0 && one.machine.comes(event)) counts.sent++;
    }
    tick();
  }
  isHealed = true;
  let nobodySince = clock.ms;
  for (const one of machines) one.stopped = 0;
  for (let i = 0; i < HEALED; i++) {
    for (const { machine } of machines) machine.start();
    tick();
    if (machines.some(({ machine }) => machine.isServing())) nobodySince = clock.ms;
    assert.ok(clock.ms - nobodySince < NOBODY_MS, `seed ${seed}: nobody serves it`);
  }
  const said = `seed ${seed}`;
  assert.deepEqual(
    machines.filter(({ machine }) => machine.isAlone()).length,
    0,
    `${said}: back, and nobody is alone`,
  );
  const times = new Map<string, number>();
  for (const { events } of database.pages())
    for (const event of events) times.set(event, (times.get(event) ?? 0) + 1);
  const lost = [...answered].filter((event) => !times.has(event));
  assert.deepEqual(lost, [], `${said}: answered, and not in the record`);
  const twice = [...times].filter(([, n]) => n > 1).map(([event]) => event);
  assert.deepEqual(twice, [], `${said}: in the record twice`);
  assert.deepEqual(database.rows(), [], `${said}: handed over, and not taken`);
  assert.ok(
    machines.every(({ machine }) => machine.disk.told === null),
    `${said}: not handed over`,
  );
  counts.takings = database.found().epoch;
  return { ...counts, answered: answered.size };
}
