import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What this process holds, and what it held at the most. */
export interface Memory {
  /** From here on the most counts; what lies about and nobody holds is collected where it is much. */
  begin(): void;
  /** Bytes that it held more, at the most, than at the first beginning. */
  growth(): number;
}

/** What may lie about from one request to the next, and counts for the next: a whole collection takes as long as many of them. */
const GARBAGE = 30_000_000;

export function watchMemory(): Memory {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  let before: number | null = null;
  return {
    begin() {
      if (before === null || process.memoryUsage.rss() - before > GARBAGE) gc();
      most();
      before ??= process.memoryUsage.rss();
    },
    growth: () => most() - (before ?? 0),
  };
}

/** The most since the last call, or what it is now where the system doesn't say. */
function most(): number {
  try {
    const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    writeFileSync("/proc/self/clear_refs", "5");
    return Number(kib) * 1024;
  } catch {
    return process.memoryUsage.rss();
  }
}
