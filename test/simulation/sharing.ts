import type { LadderBody } from "../../src/core/projects/ladder.ts";
import { change, edited, fire, onSome, someJump, stillThere } from "./acts.ts";
import type { Engine, machine } from "./engine.ts";
import type { Seeded } from "./seeded.ts";
import { fromOutside, LADDERS, makeLadder, type World } from "./world.ts";

type Clock = ReturnType<typeof machine>;

/** Somebody edits a ladder that rules share, and something else may happen before its alerts have followed. */
export function shareAct(
  engine: Engine,
  clock: Clock,
  { random, world }: { random: Seeded; world: World },
): void {
  // What a crash leaves is at most ten seconds behind.
  engine.beat();
  if (random.chance(0.3)) fire(engine, random);
  editLadder(engine, random, world);
  if (random.chance(0.2)) editLadder(engine, random, world);
  if (random.chance(0.3)) fire(engine, random);
  if (random.chance(0.15)) onSome(engine, random, (id) => engine.ack(id));
  if (random.chance(0.1)) onSome(engine, random, (id) => engine.unack(id));
  if (random.chance(0.1)) onSome(engine, random, (id) => engine.resolve(id));
  if (random.chance(0.1)) change(engine, random, world);
  if (random.chance(0.1)) clock.jump(someJump(random));
  const seconds = random.pick([1, 600, 7200, 86_400]) * (1 + random.below(3));
  if (random.chance(0.2)) engine.restart({ seconds, hidden: 0, crash: random.chance(0.5) });
  engine.look();
}

/** Another or an edited one, more or fewer passes, another name; or it goes, or comes. */
export function editLadder(engine: Engine, random: Seeded, world: World): void {
  const { ladders } = engine;
  // Most often one that rules refer to.
  const used = engine.rules.flatMap((rule) => (rule?.ladder == null ? [] : [rule.ladder]));
  const some = used.length > 0 && random.chance(0.8) ? used : [...ladders.shared.keys()];
  const name = random.pick(some) ?? random.pick(LADDERS);
  const before = ladders.shared.get(name);
  const other = makeLadder(random, world.rotas);
  if (before !== undefined && random.chance(0.15)) {
    ladders.drop(name);
    return;
  }
  const steps = edited(random, before?.steps ?? [], other.steps).map((step) =>
    stillThere(engine, fromOutside(step)),
  );
  const passes = before === undefined || random.chance(0.4) ? other : before;
  const body: LadderBody = { ...passes, steps };
  const to = before !== undefined && random.chance(0.2) ? `${name}'` : name;
  ladders.put({ name, to: ladders.shared.has(to) ? name : to, body });
}
