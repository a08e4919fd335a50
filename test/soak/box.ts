import { readdirSync, statSync } from "node:fs";
import { getHeapCodeStatistics } from "node:v8";
import { serverLimits } from "../../src/web/http/server-limits.ts";
import { served } from "../network/served.ts";

/** What a process holds, after its garbage is collected. */
export interface Held {
  heap: number;
  /** Of the heap, what the engine made of the program: code, bytecode and what belongs to them. */
  code: number;
  rss: number;
  /** Open files; 0 where the system doesn't say. */
  files: number;
  handles: number;
  /** Bytes of the write-ahead log. */
  wal: number;
}

/** The box of a soak, in a process of its own: says where it is, and how much it holds when it is asked. */
const box = await served(serverLimits);
const gc = (globalThis as { gc?: () => void }).gc ?? (() => {});

function held(): Held {
  gc();
  gc();
  const { heapUsed, rss } = process.memoryUsage();
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics();
  const path = box.tenant.store
    .sql("SELECT file FROM pragma_database_list WHERE name = 'main'")
    .pluck()
    .get();
  return {
    heap: heapUsed,
    rss,
    files: count("/proc/self/fd"),
    code: code_and_metadata_size + bytecode_and_metadata_size,
    handles: process.getActiveResourcesInfo().length,
    wal: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
  };
}

function count(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

process.on("message", (what) => {
  if (what === "held") process.send?.({ held: held(), errors: box.errors.map(String) });
  else void box.stop().then(() => process.exit(0));
});
process.send?.({ port: box.port, key: box.key, token: box.token });
