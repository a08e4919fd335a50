import { statSync } from "node:fs";
import { addonPlaces, threadSource } from "../ground/kit/assets.ts";
import { createWorkThread } from "../ground/kit/thread.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import type { UpgradeRefused, UpgradeWork } from "../ground/store/upgrade-worker.ts";
import type { BoxDeps } from "./parts.ts";

/** The upgrade of a smaller store takes no longer than a thread's start. */
const SMALL_BYTES = 64 * 1024 * 1024;
/** Of a large store the copy and the migrations take minutes. */
const LIMITS = { deadlineMs: 3_600_000, heapMb: 256, longestQueue: 0 };
const WHY_NOT = { late: "takes longer than an hour", heap: "needs more memory than a thread has" };

/**
 * Brings an older store that is large to this program's schema, in a thread: its owner says meanwhile that it lives. Where
 * the thread doesn't start, whoever opens the store does it. Rejects with StoreFault where it was tried and isn't done: a
 * second try would take as long, and nobody would say meanwhile that the owner lives.
 */
export async function upgradeAside(
  path: string,
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
): Promise<void> {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < SMALL_BYTES) return;
  const [schema, known] = [checkHeader(path, "box").userVersion, migrations("box").length];
  if (schema >= known) return;
  log.info({ schema, known }, "the store is brought to this program's schema");
  const source = threadSource("src/ground/store/upgrade-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  const work: UpgradeWork = { path, env: addonPlaces() };
  const heard = await thread.ask(work);
  await thread.close();
  if ("said" in heard) {
    const refused = heard.said as UpgradeRefused | null;
    if (refused !== null) throw new StoreFault(refused.kind, refused.message);
  } else {
    const why = heard.ended;
    if (why === "late" || why === "heap")
      throw new StoreFault(
        "unavailable",
        `${path}: the upgrade ${WHY_NOT[why]}. Nothing was changed.`,
      );
    log.warn({ why }, "the store isn't brought to this program's schema yet");
  }
}
