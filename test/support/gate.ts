import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** The second place of a store's commits, opened and shut by hand. */
export interface HandGate {
  durable(): Promise<void> | null;
  shut(): void;
  open(): void;
  /** How often somebody was told to wait. */
  readonly asked: number;
}

export function handGate(): HandGate {
  let waiting: PromiseWithResolvers<void> | null = null;
  let asked = 0;
  return {
    durable() {
      if (waiting !== null) asked++;
      return waiting?.promise ?? null;
    },
    shut() {
      waiting ??= Promise.withResolvers<void>();
    },
    open() {
      waiting?.resolve();
      waiting = null;
    },
    get asked() {
      return asked;
    },
  };
}

/** Answers about the process itself: what they wait for would not be waited for by anybody. */
export const AT_ONCE = [
  "/healthz",
  "/readyz",
  "/metrics",
  "/v1/openapi.json",
  "/v1/role",
  "/v1/version",
];

/**
 * Does `act` with the gate shut, and shows that nothing came of it before the gate was opened: it asked the gate, and
 * the program had time for whole other requests meanwhile. `url`: of the program that does it.
 */
export async function heldBack<T>(
  gate: HandGate,
  url: string,
  { what, act }: { what: string; act: () => Promise<T> },
): Promise<T> {
  gate.shut();
  const before = gate.asked;
  let isHeard = false;
  try {
    const heard = act().finally(() => {
      isHeard = true;
    });
    heard.catch(() => {});
    const start = performance.now();
    while (gate.asked === before && !isHeard) {
      assert.ok(performance.now() - start < 30_000, `${what} asks no gate and ends not`);
      await pause(1);
    }
    for (let i = 0; i < 2; i++) await (await fetch(`${url}/healthz`)).text();
    assert.equal(isHeard, false, `${what} was heard before the gate was opened`);
    gate.open();
    return await heard;
  } finally {
    gate.open();
  }
}
