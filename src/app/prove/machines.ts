import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../ground/kit/clock.ts";
import type { Api } from "./api.ts";
import { type Process, within } from "./scratch-box.ts";

/** A process that serves the scratch box, or stands by for it. */
export interface Machine {
  readonly data: string;
  readonly url: string;
  readonly process: Process;
}

/** Longest time until a machine serves, where no other does. */
const TAKEN_MS = 60_000;
const LOOK_MS = 100;

/** The machine that serves the box; null where none does in time, or one has ended. */
export async function servingOf(
  machines: readonly Machine[],
  api: Api,
  clock: Clock,
): Promise<Machine | null> {
  const until = clock.mono() + TAKEN_MS;
  while (clock.mono() < until) {
    for (const machine of machines) if (await api.serves(machine.url)) return machine;
    if ((await endedOf(machines, clock)) !== null) return null;
  }
  return null;
}

/** How one of them ended; null: all run. */
export async function endedOf(machines: readonly Machine[], clock: Clock): Promise<string | null> {
  const ends = machines.map(({ process }) => process.ended);
  const ending = await within(clock, LOOK_MS, Promise.race(ends));
  return ending && `it ended with ${ending.signal ?? `exit code ${ending.code}`}: ${ending.said}`;
}

/** Nothing but the box's keys is in the directory, as on a new disk to which they were copied. */
export function emptyBut(data: string, keysFrom: string): void {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  for (const name of readdirSync(keysFrom).filter((one) => one.startsWith("box.key")))
    cpSync(join(keysFrom, name), join(data, name));
}
