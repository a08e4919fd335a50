import { statSync } from "node:fs";
import { addonPlaces, threadSource } from "../ground/kit/assets.ts";
import { createInTurn } from "../ground/kit/in-turn.ts";
import { createWorkThread, type Heard } from "../ground/kit/thread.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import { type UpgradeRefused, type UpgradeWork, upgraded } from "../ground/store/upgrade-worker.ts";
import type { BoxDeps } from "./parts.ts";

/** The upgrade of a smaller store takes no longer than a thread's start. */
const SMALL_BYTES = 64 * 1024 * 1024;
/** Of a large store the copy and the migrations take minutes. */
const LIMITS = { deadlineMs: 3_600_000, heapMb: 256, longestQueue: 0, patience: 1 };
/** Each copies its store first, and asks before whether there is room. */
const inTurn = createInTurn();
let isAtWork = false;

/** Whether a thread is at work on a store. It can't be ended while it is, and may be killed with the process. */
export const isUpgrading = (): boolean => isAtWork;

const WHY_NOT = { late: "takes longer than an hour", heap: "needs more memory than a thread has" };

/**
 * Brings an older store that is large to this program's schema, in a thread, one at a time: its owner says meanwhile that
 * it lives. Where the thread doesn't start, whoever opens the store does it, unless `servesOthers`. Rejects with StoreFault
 * where it was tried and isn't done: a second try would take as long, and nobody would say meanwhile that the owner lives.
 */
export async function upgradeAside(
  path: string,
  deps: Pick<BoxDeps, "clock" | "log">,
  { servesOthers = false }: { servesOthers?: boolean } = {},
): Promise<void> {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const isSmall = bytes < SMALL_BYTES;
  if (bytes === 0 || (isSmall && servesOthers)) return;
  const [schema, known] = [checkHeader(path, "box").userVersion, migrations("box").length];
  if (schema >= known) return;
  if (isSmall) return mustBeDone(upgraded({ path, env: {} }));
  const isOver = await inTurn(path);
  deps.log.info({ schema, known }, "the store is brought to this program's schema");
  isAtWork = true;
  const heard = await inThread(path, deps).finally(() => {
    isAtWork = false;
    isOver();
  });
  if ("said" in heard) {
    mustBeDone(heard.said as UpgradeRefused | null);
  } else {
    const why = heard.ended;
    if (why === "late" || why === "heap")
      throw new StoreFault(
        "unavailable",
        `${path}: the upgrade ${WHY_NOT[why]}. Nothing was changed.`,
      );
    if (why === "busy" && servesOthers)
      throw new StoreFault("unavailable", `${path}: no thread starts now that upgrades it.`);
    deps.log.warn({ why }, "the store isn't brought to this program's schema yet");
  }
}

function mustBeDone(refused: UpgradeRefused | null): void {
  if (refused !== null) throw new StoreFault(refused.kind, refused.message);
}

async function inThread(path: string, { clock }: Pick<BoxDeps, "clock">): Promise<Heard> {
  const source = threadSource("src/ground/store/upgrade-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  const heard = await thread.ask({ path, env: addonPlaces() } satisfies UpgradeWork);
  await thread.close();
  return heard;
}
