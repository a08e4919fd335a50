import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, TestBox } from "./box.ts";

/** Nothing that comes needs more, on however busy a machine. */
const PATIENCE_MS = 30_000;

/** Waits for something that real sockets bring about; throws, saying `what`, when it doesn't come. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`still not so: ${what}`);
    await pause(1);
  }
}

/** The same of what has to be asked for. */
export async function untilSo(condition: () => Promise<boolean>, what: string): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`still not so: ${what}`);
    await pause(20);
  }
}

/** Asks until it is so: processes take their own time. */
export async function askUntil(
  ask: () => Promise<Answer>,
  isSo: (body: Answer["body"]) => boolean,
): Promise<Answer["body"]> {
  for (let tries = 0; ; tries++) {
    const { status, body } = await ask();
    assert.equal(status, 200, JSON.stringify(body));
    if (isSo(body)) return body;
    assert.ok(tries < 900, `still not so: ${JSON.stringify(body)}`);
    await pause(100);
  }
}

/**
 * Lets the box do what is due now, and waits until nothing is under way. Time stands still for the box
 * meanwhile, so that no attempt runs out of it.
 */
export async function settle(box: TestBox): Promise<void> {
  const { deliveries, executions, pages } = box.tenant.outbox;
  const underWay = () => deliveries.inFlight + executions.inFlight + pages.inFlight;
  for (let calm = 0; calm < 3; ) {
    await box.clock.turn(0);
    if (underWay() === 0) calm++;
    else calm = 0;
    await until(() => underWay() === 0, "attempts end");
  }
}

/** Turns the box's clock on, a step at a time, waiting for what each step sets going. */
export async function pass(box: TestBox, seconds: number, step = 1): Promise<void> {
  for (let left = seconds; left > 0; left -= step) {
    await box.clock.turn(Math.min(step, left) * 1000);
    await settle(box);
  }
}

/** As `settle`, but only until `condition` holds: for attempts that don't end. */
export async function busy(box: TestBox, condition: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`still not so: ${what}`);
    await box.clock.turn(0);
    await pause(1);
  }
}

/** Waits for `work` that itself waits for the box's clock, which is turned meanwhile. */
export async function through<T>(box: TestBox, work: Promise<T>): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => {});
  while (!over) {
    await box.clock.turn(100);
    await pause(1);
  }
  return done;
}
