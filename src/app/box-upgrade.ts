import { addonPlaces, threadSource } from "../ground/kit/assets.ts";
import { sleep } from "../ground/kit/clock.ts";
import { createWorkThread } from "../ground/kit/thread.ts";
import { checkHeader } from "../ground/store/header.ts";
import { migrations } from "../ground/store/migrations.ts";
import type { PageRecord } from "../ground/store/record/record.ts";
import type { UpgradeWork } from "../ground/store/upgrade-worker.ts";
import type { BoxDeps } from "./parts.ts";

/** Well within the time that a machine lives after its latest word. */
const RENEW_MS = 2_000;
/** Of a large store the copy and the migrations take minutes. */
const LIMITS = { deadlineMs: 3_600_000, heapMb: 256, longestQueue: 0 };

/**
 * Brings an older store to this program's schema while it says that its owner lives: that may take longer than a machine
 * lives without a word, and another one would take the store, and begin the same. What isn't done here, whoever opens
 * the store does, or says why it can't be.
 */
export async function upgradeAlive(
  path: string,
  record: Pick<PageRecord, "renew">,
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
): Promise<void> {
  const [schema, known] = [checkHeader(path, "box").userVersion, migrations("box").length];
  if (schema >= known) return;
  log.info({ schema, known }, "the store is brought to this program's schema");
  const source = threadSource("src/ground/store/upgrade-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  const over = new AbortController();
  const lives = async () => {
    while (!over.signal.aborted) {
      // Whoever keeps its commits asks again, and says what is wrong.
      await record.renew().catch(() => {});
      await sleep(clock, RENEW_MS, over.signal);
    }
  };
  const living = lives();
  const work: UpgradeWork = { path, env: addonPlaces() };
  const heard = await thread.ask(work);
  over.abort();
  await living;
  await thread.close();
  const why = "said" in heard ? heard.said : heard.ended;
  if (why !== null) log.warn({ why }, "the store isn't brought to this program's schema yet");
}
