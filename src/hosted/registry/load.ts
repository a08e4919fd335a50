/** The load of the connections for one purpose. */
export interface LaneLoad {
  /** `work`; or `leases`, for what work mustn't hold up, and for what takes so long that it would hold work up. */
  lane: "work" | "leases";
  /** The most connections that it opens. */
  places: number;
  /** Connections in use. */
  busy: number;
  /** Callers that wait for a connection. */
  waiting: number;
  /** Statements that ended, well or not, and their time in all. */
  statements: number;
  seconds: number;
}

/**
 * Why a statement failed.
 * - `undone`: it was rolled back because of another; it can be repeated.
 * - `late`: the server ended it because it took too long; a repetition would take as long.
 * - `lost`: the connection or the primary is gone; whether it was done is unknown.
 * - `refused`: because of the login, database or certificate; a repetition doesn't help.
 * - `failed`: because of the statement itself.
 */
export type TryFault = "undone" | "late" | "lost" | "refused" | "failed";

/** Statements that serve many callers at once. */
export type BatchKind = "take" | "settle" | "who" | "beat";

/** Counts of this node's use of the database, since it started. */
export interface DatabaseLoad {
  lanes: LaneLoad[];
  faults: Record<TryFault, number>;
  /** How many statements, and for how many rows in all. */
  batches: Record<BatchKind, { statements: number; rows: number }>;
}
