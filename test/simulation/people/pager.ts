import { setImmediate as turn } from "node:timers/promises";
import { nobodyGotIt } from "../../../src/core/alerts/fallback.ts";
import { holdPages, isSilenced } from "../../../src/core/alerts/page-hold.ts";
import { writeLateTimeline as tell } from "../../../src/core/alerts/timeline.ts";
import { unixSeconds } from "../../../src/ground/kit/clock.ts";
import type { Log } from "../../../src/ground/kit/log.ts";
import type { Sealer } from "../../../src/ground/kit/sealer.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { createDispatcher } from "../../../src/out/outbox/dispatcher.ts";
import { expirePages } from "../../../src/out/paging/lost.ts";
import { pageQueue } from "../../../src/out/paging/queue.ts";
import type { Engine, Machine } from "../engine.ts";
import type { Services } from "./services.ts";

/** The real dispatcher and queue over an engine's store, their services played; the loop's part is played here. */
export interface Pager {
  /** Plays all that comes in so many milliseconds. */
  pass(ms: number): Promise<void>;
  /** Does what is due now, and waits until all that was answered is written. */
  flush(): Promise<void>;
  /** Nothing that is under way, or was answered just now, is written any more. */
  kill(): Promise<void>;
  /** After the engine's restart. */
  again(): void;
}

const EXPIRE_MS = 60_000;
/** A machine whose answers never end: a law that is broken rather than a test that hangs. */
const MOST_TURNS = 20_000;

export function startPager(options: {
  engine: Engine;
  machine: Machine;
  services: Services;
  log: Log;
  sealer: Sealer;
  /** Called after each thing that was done. */
  onStep(next: number | null): void;
}): Pager {
  const { engine, machine, services, log, sealer, onStep } = options;
  const telling = { tell, unreached: nobodyGotIt, hold: holdPages };
  let woken = true;
  let next: number | null = null;
  let expireAt = machine.mono() + EXPIRE_MS;

  const wake = () => {
    woken = true;
  };
  const open = () => {
    // Only the wait at a stop is timed, and a kill waits for nothing.
    const after = (_ms: number, fn: () => void) => {
      queueMicrotask(fn);
      return () => {};
    };
    const store: Store = { ...engine.store, clock: { ...engine.store.clock, after } };
    const dispatcher = createDispatcher({
      store,
      log,
      sockets: 128,
      wake,
      queue: pageQueue({
        ...telling,
        store,
        sealer,
        sender: services.sender,
        publicUrl: "",
        oneOfMany: false,
        isQuiet: (alertId) => isSilenced(store, alertId, unixSeconds(store.clock)),
        shift: () => null,
      }),
    });
    store.onCommit((notes) => {
      for (const note of notes) {
        if (note.topic === "contact") dispatcher.touch(note.id);
        else if (note.topic === "outbox") dispatcher.touchAll();
        else continue;
        woken = true;
      }
    });
    woken = true;
    return dispatcher;
  };
  let dispatcher = open();

  const flush = async () => {
    for (let turns = 0; woken || dispatcher.inFlight > services.held; turns += 1) {
      if (turns > MOST_TURNS) throw new Error("the pager finds no rest");
      if (woken) {
        woken = false;
        next = dispatcher.run();
      }
      await turn();
    }
    services.settled();
  };

  const isDue = (at: number | null) => at !== null && at <= engine.store.clock.now();
  const waitMs = (): number => {
    const now = engine.store.clock.now();
    const look = engine.nextLook();
    const end = services.nextEnd();
    return Math.min(
      look === null ? Infinity : look * 1000 - now,
      next === null ? Infinity : next - now,
      end === null ? Infinity : end - machine.mono(),
      expireAt - machine.mono(),
    );
  };
  const step = async () => {
    if ((engine.nextLook() ?? Infinity) <= engine.now()) engine.look();
    services.answer();
    if (expireAt <= machine.mono()) {
      engine.beat();
      while (engine.store.write((tx) => expirePages(tx, telling)));
      expireAt = machine.mono() + EXPIRE_MS;
    }
    if (isDue(next)) woken = true;
    await flush();
    onStep(next);
  };

  return {
    flush,
    async pass(ms) {
      const until = machine.mono() + ms;
      await step();
      while (machine.mono() < until) {
        const wait = Math.max(0, Math.min(waitMs(), until - machine.mono()));
        machine.pass(wait / 1000);
        await step();
      }
    },
    async kill() {
      services.cut();
      await dispatcher.stop(0);
    },
    again() {
      next = null;
      dispatcher = open();
    },
  };
}
