import { constants, setPriority } from "node:os";

/** Lowers the priority of a thread whose work can wait. On Linux this affects the calling thread only. */
export function stepBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, constants.priority.PRIORITY_LOW);
  } catch {
    // A strict host refuses it; the thread then keeps its priority.
  }
}
