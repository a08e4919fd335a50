/** A stored template. A merged one has `aliasOf`. Only the miner reads `state`. */
export interface MinerRow {
  /** 16 lower-case hex characters: a hash of the general shape. Ingest answers it for the shape's lines. */
  id: string;
  /** With a mark of its own for each name. */
  shape: string;
  text: string;
  /** The root's id; null for a root. */
  aliasOf: string | null;
  state: string;
}

/** A root. The object stays the same while the root exists, so callers can cache by it. */
export interface Template {
  readonly id: string;
  /** For people, with `<*>` for the variable parts. */
  readonly text: string;
  /** Grows with each change of the text. */
  readonly version: number;
}

export interface Mined {
  /** The id of the line's general shape, always the same for the same line. */
  readonly id: string;
  readonly root: Template;
  /** The text of the line's own shape, with its names. Computed at each call. */
  readonly ownText: string;
  /** Whether it has names that vary from the first line on. */
  readonly hasNames: boolean;
}

export interface MinerChanges {
  /** Rows to write, by id. */
  rows: MinerRow[];
  /** Roots that became aliases, without shapes that were aliases from the start. */
  merged: { younger: string; older: string }[];
  /** Ids whose rows can be deleted: those used longest ago, above the limit. */
  evicted: string[];
}

export interface MinerOptions {
  /** The most shapes in memory; above it those used longest ago are evicted. */
  limit: number;
  /** The rows that earlier miners wrote, in any order. */
  rows: Iterable<MinerRow>;
}
