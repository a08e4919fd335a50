import type { QueryResult } from "pg";
import { type Generation, isLeftBehind, type SeenGeneration } from "../generation.ts";
import { DatabaseAway, endOf } from "./database-faults.ts";

interface Asker {
  ask(sql: string, values: readonly [], ms: number): Promise<QueryResult>;
}

/**
 * A commit that waits for a lost standby keeps its connection at the server, even after its caller has given up. With
 * each further one the server runs out of connections, so such a host counts as unable to write.
 */
const stateOf = (generation: string) =>
  `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS standby,
  EXISTS (SELECT 1 FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
    AND query_start < statement_timestamp() - interval '10 s') AS waits, ${generation}`;

const GENERATION = `(SELECT system_identifier::text FROM pg_control_system()) AS system,
  CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;
const NONE = "NULL AS system, NULL AS timeline";

interface State {
  standby: boolean;
  waits: boolean;
  system: string | null;
  /** Eight hexadecimal digits. */
  timeline: string | null;
}

/**
 * The generation of a host that accepts writes; null where the database doesn't report one, or not to this user.
 * Rejects with DatabaseAway for a host that accepts none, or was left behind: a primary that returns after its standby
 * was promoted would store what no other node sees.
 */
export async function mustTakeWrites(
  line: Asker,
  { ms, seen, told }: { ms: number; seen: SeenGeneration; told: { ageless: boolean } },
): Promise<Generation | null> {
  const { standby, waits, system, timeline } = await stateAt(line, ms, told);
  if (standby) throw new DatabaseAway("it takes no writes");
  const found =
    system === null || timeline === null
      ? null
      : { system, timeline: Number.parseInt(timeline, 16) };
  const latest = seen.latest();
  if (isLeftBehind(found, latest))
    throw new DatabaseAway(
      `it is on timeline ${found?.timeline}, and ${latest?.timeline} was promoted since: it must not take writes; ` +
        `make it a standby, or ${seen.forget}`,
    );
  if (waits) throw new DatabaseAway("its commits wait for a standby");
  if (found !== null && (found.system !== latest?.system || found.timeline !== latest.timeline))
    seen.saw(found);
  return found;
}

async function stateAt(line: Asker, ms: number, told: { ageless: boolean }): Promise<State> {
  if (!told.ageless)
    try {
      return (await line.ask(stateOf(GENERATION), [], ms)).rows[0];
    } catch (error) {
      // A function that is missing or forbidden is no fault of the host.
      if (endOf(error) !== "failed" && endOf(error) !== "refused") throw error;
      told.ageless = true;
    }
  return (await line.ask(stateOf(NONE), [], ms)).rows[0];
}
