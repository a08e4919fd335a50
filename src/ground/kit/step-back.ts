import { setPriority } from "node:os";

/**
 * A quarter of a core beside a busy server. With the lowest priority, other programs that keep the cores busy would leave a
 * thread nothing within its deadline, and a backup would never end.
 */
const NICENESS = 5;

/**
 * Lowers the priority of work that can wait: of the process `pid`, by default of the calling thread. Only Linux knows
 * threads' own priorities.
 */
export function stepBack(pid = 0): void {
  if (pid === 0 && process.platform !== "linux") return;
  try {
    setPriority(pid, NICENESS);
  } catch {
    // A strict host refuses it; the work then keeps its priority.
  }
}
