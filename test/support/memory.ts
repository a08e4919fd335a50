import { mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";

/** A box keeps 16 MiB in reserve, and some are up at once. A container's share is 64 MiB unless told. */
const ENOUGH = 1024 * 1024 * 1024;

/**
 * Where files cost no disk: each box that starts writes a reserve of 16 MiB and waits until it is down. What must
 * outlive a power cut is tested elsewhere (test/powercut), and so are full disks (test/faults).
 */
export function memoryOrTemp(): string {
  return process.env["BOX_TEST_MEMORY"] ?? (hasRoom() ? MEMORY : tmpdir());
}

/** A directory of the suite's own there, or beside its other files. */
export function suiteMemory(temporary: string): string {
  return hasRoom() ? mkdtempSync(join(MEMORY, "box-suite-")) : temporary;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH;
  } catch {
    return false;
  }
}
