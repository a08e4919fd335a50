import { createRule } from "../../../src/core/alerts/rules.ts";
import { getProject } from "../../../src/core/projects/projects.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import type { HeartbeatCreate } from "../../../src/in/heartbeats/heartbeat.ts";
import { createHeartbeat } from "../../../src/in/heartbeats/heartbeats.ts";
import { nextHeartbeat } from "../../../src/in/heartbeats/rows.ts";
import { createHeartbeatWatch, type HeartbeatWatch } from "../../../src/in/heartbeats/watch.ts";
import { defaultRule, step } from "../../support/plane.ts";
import { type Engine, type Machine, startEngine } from "../engine.ts";
import type { Seeded } from "../seeded.ts";
import type { World } from "../world.ts";

/** The engine with somebody who listens to jobs. */
export interface Box {
  readonly engine: Engine;
  readonly heartbeats: HeartbeatWatch;
  /** What one turn of the loop does, heartbeats among it. */
  look(): Promise<void>;
  nextLook(): number | null;
  /** Plays the loop up to and with `until`; `each` after each look. */
  runUntil(until: number, each: () => void): Promise<void>;
}

export const BEATS = "beats";

export function startBox(options: {
  path: string;
  world: World;
  machine: Machine;
  random: Seeded;
  beats: readonly HeartbeatCreate[];
}): Box {
  const engine = startEngine(options);
  const watches = new WeakMap<Store, HeartbeatWatch>();
  const heartbeats = () => {
    const { store } = engine;
    let watch = watches.get(store);
    if (watch === undefined) {
      watch = createHeartbeatWatch({
        store,
        log: silentLog,
        tenantId: "0".repeat(16),
        ingest: {
          submit(source, events, settle) {
            engine.submit(source, events);
            settle(null, []);
          },
          takers: () => [BEATS],
        },
      });
      watches.set(store, watch);
    }
    return watch;
  };
  engine.store.write((tx) => {
    const project = getProject(tx, "p");
    const body = {
      ...defaultRule,
      match: { ...defaultRule.match, tags: ["heartbeat"] },
      escalations: [step(0, ["ann"])],
    };
    createRule(tx, project, { name: BEATS, body });
    for (const body of options.beats)
      createHeartbeat(tx, project, { body, tenantId: "0".repeat(16) });
  });
  const nextLook = () => {
    const times = [engine.nextLook(), nextHeartbeat(engine.store)].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  };
  const look = async () => {
    engine.look();
    await heartbeats().look();
    if ((engine.nextLook() ?? Infinity) <= engine.now()) engine.look();
  };
  return {
    engine,
    get heartbeats() {
      return heartbeats();
    },
    look,
    nextLook,
    async runUntil(until, each) {
      for (let at = nextLook(); at !== null && at <= until; at = nextLook()) {
        if (at > engine.now()) options.machine.pass(at - engine.now());
        await look();
        each();
      }
      if (until > engine.now()) options.machine.pass(until - engine.now());
    },
  };
}
