import { constants, setPriority } from "node:os";

/** For a thread whose work can wait: events and pages come first where cores are few. On Linux this touches the calling thread only. */
export function stepBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, constants.priority.PRIORITY_LOW);
  } catch {
    // Refused by a strict host: the work then shares the processor evenly.
  }
}
