import { statSync } from "node:fs";
import { dirname } from "node:path";
import { addonPlaces, threadSource } from "../ground/kit/assets.ts";
import { createInTurn } from "../ground/kit/in-turn.ts";
import { createWorkThread, type Heard } from "../ground/kit/thread.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { freeBytes } from "../ground/store/files.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import { upgradeNeeds } from "../ground/store/upgrade.ts";
import type { UpgradeRefused, UpgradeWork } from "../ground/store/upgrade-worker.ts";
import type { BoxDeps } from "./parts.ts";

/** Of such a store the copy and the migrations may take minutes: smaller ones don't wait for it. */
const LARGE_BYTES = 64 * 1024 * 1024;
const LIMITS = { deadlineMs: 3_600_000, longestQueue: Number.POSITIVE_INFINITY, patience: 1 };
const HEAP_MB = 256;
let atWork = 0;

/** Whether a thread is at work on a store. It can't be ended while it is, and may be killed with the process. */
export const isUpgrading = (): boolean => atWork > 0;

const WHY_NOT: Readonly<Record<string, string>> = {
  late: "it takes longer than an hour",
  heap: "it needs more memory than a thread has",
  busy: "no thread starts now",
};

/** Whether there is a store that this program would upgrade. */
export const isOlderStore = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 &&
  checkHeader(path, "box").userVersion < migrations("box").length;

interface UpgradeOptions {
  /** For tests. Default: the program's own. */
  heapMb?: number;
  /** For tests. Default: what the disk says. */
  free?: (directory: string) => number | null;
}

/**
 * Each thread looks itself whether its store's copy has room, but what is free then may be what another one takes next: two
 * small stores could fill the disk while a large one is copied, beside tenants that are served. So a store begins beside
 * others only where there is room for all of them. Else it waits. One that is alone begins in any case: its thread
 * refuses it where there is no room.
 */
function createRoom(free: (directory: string) => number | null) {
  let inHand = 0;
  let left = 0;
  let over = Promise.withResolvers<void>();
  return async (path: string, bytes: number): Promise<() => void> => {
    const needed = upgradeNeeds(bytes);
    while (inHand > 0 && left < needed) await over.promise;
    if (inHand === 0) left = free(dirname(path)) ?? Number.POSITIVE_INFINITY;
    inHand++;
    left -= needed;
    return () => {
      inHand--;
      // Its copy stays.
      left += needed - bytes;
      over.resolve();
      over = Promise.withResolvers();
    };
  };
}

/** Upgrades of older stores in threads: one for the large ones, which are done one after the other, and two for the rest. */
export function createUpgrades(
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
  { heapMb = HEAP_MB, free = freeBytes }: UpgradeOptions = {},
) {
  const room = createRoom(free);
  const inTurn = createInTurn();
  const source = threadSource("src/ground/store/upgrade-worker.ts");
  const thread = () => ({
    ...createWorkThread({ source, clock, heapMb, ...LIMITS }),
    waiting: 0,
  });
  const [large, ...small] = [thread(), thread(), thread()] as const;
  const inThread = async (path: string, bytes: number): Promise<Heard> => {
    const [one, other] = bytes < LARGE_BYTES ? small : [large, large];
    const least = one.waiting <= other.waiting ? one : other;
    const work: UpgradeWork = { path, env: addonPlaces() };
    least.waiting++;
    atWork++;
    const heard = await least.ask(work);
    atWork--;
    least.waiting--;
    return heard;
  };
  /** Resolves with what ends it. A large store that waits for another one holds no room meanwhile. */
  const begun = async (path: string, bytes: number): Promise<() => void> => {
    if (bytes < LARGE_BYTES) return room(path, bytes);
    const turnIsOver = await inTurn(path);
    try {
      const roomIsOver = await room(path, bytes);
      return () => {
        roomIsOver();
        turnIsOver();
      };
    } catch (error) {
      turnIsOver();
      throw error;
    }
  };
  return {
    /**
     * Brings an older store to this program's schema: meanwhile its owner says that it lives, and others are served. Rejects
     * with StoreFault where it isn't done. Nobody upgrades it in opening it: nobody would say meanwhile that the owner lives.
     */
    async upgrade(path: string): Promise<void> {
      if (!isOlderStore(path)) return;
      const bytes = statSync(path).size;
      const isOver = await begun(path, bytes);
      log.info({ bytes }, "the store is brought to this program's schema");
      const heard = await inThread(path, bytes).finally(isOver);
      if ("said" in heard) {
        const refused = heard.said as UpgradeRefused | null;
        if (refused !== null) throw new StoreFault(refused.kind, refused.message);
        return;
      }
      const why = heard.ended;
      const said = WHY_NOT[why] ?? `its thread ended: ${why}`;
      throw new StoreFault("unavailable", `${path} isn't upgraded: ${said}. Nothing was changed.`);
    },
    /** Ends the threads, each when its statement is over. */
    close(): void {
      for (const one of [large, ...small]) void one.close();
    },
  };
}
