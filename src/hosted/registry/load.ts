/** Connections for one purpose. */
export interface LaneLoad {
  /** `work`, or `leases` for who lives and who leads. */
  lane: "work" | "leases";
  /** Connections that there may be. */
  places: number;
  /** Of them, in somebody's hands. */
  busy: number;
  /** Who waits for one. */
  waiting: number;
  /** Statements that ended, well or not, and how long they took in all. */
  statements: number;
  seconds: number;
}

/**
 * What became of a statement that failed.
 * - `undone`: it was rolled back to make way for another; it may be asked again.
 * - `late`: the server ended it for the time it took; it was rolled back, and would take as long again.
 * - `lost`: the connection, or the server for writing, is gone; nobody knows whether it was done.
 * - `refused`: by who or what we are (password, no such database, certificate); asking again helps nobody.
 * - `failed`: by what was asked.
 */
export type TryFault = "undone" | "late" | "lost" | "refused" | "failed";

/** What is asked for many at once. */
export type BatchKind = "take" | "settle" | "who" | "beat";

/** What a node has counted of its database since it started. */
export interface DatabaseLoad {
  lanes: LaneLoad[];
  faults: Record<TryFault, number>;
  /** How many statements, and for how many rows in all. */
  batches: Record<BatchKind, { statements: number; rows: number }>;
}
