import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Turns } from "./turns.ts";

/** A row that waits to be sent, as the dispatcher sees it. */
export interface QueuedRow {
  id: number;
  alertId: number | null;
  attempts: number;
  /** The kind of event that goes out. */
  event: string;
  createdAt: number;
}

/** Which due rows are asked for. */
export interface Look {
  /** Unix milliseconds. */
  nowMs: number;
  limit: number;
  /** The least tried first. */
  probe: boolean;
  /** Those under way already, which are left out. */
  inFlight: ReadonlySet<number>;
  /** Whose turn it was last; moved on by those that are given out. */
  turns: Turns;
}

/** What one attempt came to, before it is written. */
export interface Attempted<Outcome> {
  row: QueuedRow;
  outcome: Outcome;
}

/** How a recorded attempt leaves its endpoint. */
export interface Recorded {
  /** Whether the endpoint answered well; null when the outcome says nothing about it. */
  well: boolean | null;
  /** How long it asked to be left alone, in milliseconds. */
  restMs?: number;
}

/** An endpoint as it stands at one look. */
interface Endpoint<Target> {
  enabled: boolean;
  /** Failed attempts in a row. */
  failures: number;
  /** What `send` needs of it: good for rows started at this very look. */
  target: Target;
}

/**
 * One kind of outgoing rows (deliveries to integrations, executions of actions): where they are, how one
 * is sent and what its outcome does. The dispatcher decides only when.
 */
export interface Queue<Outcome, Target, Row extends QueuedRow = QueuedRow> {
  readonly name: string;
  /** Whether a failing endpoint is left in peace but for one probe at a time. */
  readonly probes: boolean;
  /** Ids of endpoints that have pending rows. */
  endpoints(reader: Reader): string[];
  /** Rows due, each the first pending one of its alert: oldest first, in turns where there is more than one rule or level. */
  due(reader: Reader, endpoint: string, look: Look): Row[];
  /** The earliest due time after `nowMs`, in Unix milliseconds. */
  nextDue(reader: Reader, endpoint: string, nowMs: number): number | null;
  /** null when it is gone. */
  endpoint(reader: Reader, endpoint: string): Endpoint<Target> | null;
  /** Sends the row; the network is used here and nowhere else, outside any transaction. */
  send(target: Target, row: Row): Promise<Outcome>;
  /** The outcome of a row whose sending threw: it must not be blamed on the endpoint. */
  broken(row: QueuedRow): Outcome;
  /** Whether the endpoint did what was asked, as far as the outcome alone tells. */
  isWell(outcome: Outcome): boolean;
  /** Writes what an attempt came to, by compare-and-set on the row's state. */
  record(tx: Tx, endpoint: string, attempted: Attempted<Outcome>): Recorded;
  /** Makes all pending rows of a recovered endpoint due; the id of the last of them. */
  release(tx: Tx, endpoint: string): number;
  /** The last of the rows that piled up while the endpoint could not be called, 0 for none. */
  backlog(reader: Reader, endpoint: string, nowMs: number): number;
  /** Whether no row up to this one is due any more. */
  isDrained(reader: Reader, endpoint: string, until: { rowId: number; nowMs: number }): boolean;
}
