import { statSync } from "node:fs";
import { addonPlaces, threadSource } from "../ground/kit/assets.ts";
import { createWorkThread } from "../ground/kit/thread.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import type { UpgradeWork } from "../ground/store/upgrade-worker.ts";
import type { BoxDeps } from "./parts.ts";

/** The upgrade of a smaller store takes no longer than a thread's start. */
const SMALL_BYTES = 64 * 1024 * 1024;
/** Of a large store the copy and the migrations take minutes. */
const LIMITS = { deadlineMs: 3_600_000, heapMb: 256, longestQueue: 0 };

/**
 * Brings an older store that is large to this program's schema, in a thread: its owner says meanwhile that it lives. What isn't done
 * here, whoever opens the store does, or says why it can't be.
 */
export async function upgradeAside(
  path: string,
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
): Promise<void> {
  const [schema, known] = [checkHeader(path, "box").userVersion, migrations("box").length];
  if (schema >= known || statSync(path).size < SMALL_BYTES) return;
  log.info({ schema, known }, "the store is brought to this program's schema");
  const source = threadSource("src/ground/store/upgrade-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  const work: UpgradeWork = { path, env: addonPlaces() };
  const heard = await thread.ask(work);
  await thread.close();
  const why = "said" in heard ? heard.said : heard.ended;
  if (why !== null) log.warn({ why }, "the store isn't brought to this program's schema yet");
}
