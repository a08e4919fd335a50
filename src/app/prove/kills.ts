import { statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Feed } from "./feed.ts";
import type { Receivers } from "./receiver.ts";
import { type Process, within } from "./scratch-box.ts";
import { type Seeded, seeded } from "./seeded.ts";

/**
 * When a kill comes.
 * first-start: while the data is made. starting: during another start. feeding: at any time. accepted: right after a
 * 202. arrived, answered: a receiver has the request, or has answered it, and the box hasn't recorded that.
 * checkpointing: while the log is moved into the database. stopping: during a regular stop.
 */
export const moments = [
  "first-start",
  "starting",
  "feeding",
  "accepted",
  "arrived",
  "answered",
  "checkpointing",
  "stopping",
] as const;
export type Moment = (typeof moments)[number];

/**
 * The moment of each kill: first starts come first, `most` of them, the others in an order of the seed, equally often.
 */
export function planKills(kills: number, seed: number, most = kills): Moment[] {
  const first = kills === 0 ? 0 : Math.min(most, Math.max(1, Math.floor(kills / 10)));
  const choice = seeded(seed, "kills");
  const rest: Moment[] = [];
  let kinds: Moment[] = [];
  while (rest.length < kills - first) {
    if (kinds.length === 0) kinds = moments.filter((moment) => moment !== "first-start");
    const [moment] = kinds.splice(choice.between(0, kinds.length - 1), 1);
    if (moment !== undefined) rest.push(moment);
  }
  return [...Array<Moment>(first).fill("first-start"), ...rest];
}

export interface Scene {
  clock: Clock;
  choice: Seeded;
  feed: Feed;
  receivers: Receivers;
  box: Process;
  data: string;
}

/** Longest wait for a moment that doesn't come. */
const PATIENCE_MS = 4000;
const LIVE_MS = [50, 900] as const;
const STOP_MS = 150;

/** Waits for the moment in a running box, kills it and stops the feed. Returns when the process has ended. */
export async function killAt(moment: Moment, scene: Scene): Promise<void> {
  const { box, feed } = scene;
  await Promise.race([waitFor(moment, scene), box.ended]);
  box.kill("SIGKILL");
  feed.shut();
  await box.ended;
}

async function waitFor(moment: Moment, scene: Scene): Promise<void> {
  const { clock, choice, feed, receivers, box } = scene;
  const soon = (told: (fn: () => void) => void) =>
    within(clock, PATIENCE_MS, new Promise<void>((resolve) => told(resolve)));
  await sleep(clock, choice.between(...LIVE_MS));
  if (moment === "accepted") await soon((fn) => feed.onAccepted(fn));
  if (moment === "arrived" || moment === "answered")
    await soon((fn) => receivers.onNext(moment, fn));
  if (moment === "checkpointing") await checkpoint(scene);
  if (moment === "stopping") {
    box.kill("SIGTERM");
    await sleep(clock, choice.between(0, STOP_MS));
  }
}

/** Only a checkpoint writes to the database file itself, so the file's time changes with its first page. */
async function checkpoint({ clock, feed, data, choice }: Scene): Promise<void> {
  const changed = () => statSync(join(data, "box.db")).mtimeMs;
  const before = changed();
  const from = clock.mono();
  feed.swell(true);
  while (changed() === before && clock.mono() - from < PATIENCE_MS) await sleep(clock, 1);
  await sleep(clock, choice.between(0, 3));
  feed.swell(false);
}
