/**
 * The thread that runs dry runs. It opens its own read-only connection to the store. It reports once when its code is
 * loaded, and then answers each order with a `DryRunReply`.
 */
import { parentPort } from "node:worker_threads";
import { systemClock } from "../../../ground/kit/clock.ts";
import { systemRandom } from "../../../ground/kit/random.ts";
import { stepBack } from "../../../ground/kit/step-back.ts";
import { openReader } from "../../../ground/store/store.ts";
import type { DryRunFound } from "./dry-run.ts";
import { type DryRunOrder, runDry } from "./run.ts";

export type DryRunReply = { answer: DryRunFound } | { failed: string };

/** With the store's path, and the environment variables that locate SQLite's addon. */
export interface DryRunWork extends DryRunOrder {
  path: string;
  env: Record<string, string>;
}

function answerTo({ path, env, ...order }: DryRunWork): DryRunReply {
  try {
    Object.assign(process.env, env);
    const reader = openReader({ path, kind: "box", clock: systemClock, random: systemRandom });
    try {
      return { answer: runDry(reader, systemClock, order) };
    } finally {
      reader.close();
    }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  stepBack();
  port.on("message", (work: DryRunWork) => port.postMessage(answerTo(work)));
  port.postMessage("ready");
}
