import type { Clock } from "./clock.ts";

const LOOK_MS = 60_000;
/** CPU time of the process in a minute that counts as quiet: a twentieth of a core. */
const QUIET_MS = LOOK_MS / 20;

/** CPU milliseconds that this process has used. */
function cpuOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * After each quiet minute, gives the system what the C library keeps of freed memory. By itself it returns only what lies
 * behind the last piece in use: after some hundred pages of the console it kept four times as much as was in use. A
 * megabyte that is returned takes 0.1 ms. Without glibc, or without node:ffi (experimental), nothing happens.
 */
export function returnSpareMemory(clock: Clock, cpu: () => number = cpuOfProcess): void {
  let used = cpu();
  const look = () => {
    clock.after(LOOK_MS, look);
    const before = used;
    used = cpu();
    if (used - before < QUIET_MS) void trim();
  };
  clock.after(LOOK_MS, look);
}

async function trim(): Promise<void> {
  try {
    const { dlopen } = await import("node:ffi");
    using libc = dlopen(null, { malloc_trim: { arguments: ["uint64"], return: "int32" } });
    libc.functions.malloc_trim(0n);
  } catch {
    // Memory stays as it is.
  }
}
