/**
 * How the two databases store a value. SQLite has numbers for seconds, milliseconds and booleans (1, 0); PostgreSQL has
 * timestamps and booleans. `tokens`: the devices that a page has reached, which are separate rows in PostgreSQL.
 */
type ColumnKind = "text" | "number" | "yes" | "seconds" | "ms" | "tokens";

export interface MovedColumn {
  /** Its name in PostgreSQL. */
  name: string;
  /** The expression that reads it in SQLite. */
  here: string;
  kind: ColumnKind;
}

export interface MovedTable {
  name: string;
  columns: readonly MovedColumn[];
  /** The columns that identify a row; they also give the order in which rows are summed. */
  key: readonly string[];
  /** The database counts its column `id`. */
  counted?: true;
}

const column = (text: string): MovedColumn => {
  const [name = "", kind = "text", here = name] = text.split(":");
  return { name, here, kind: kind as ColumnKind };
};

const table = (name: string, key: string, columns: string, more: { counted?: true } = {}) => ({
  name,
  key: key.split(" "),
  columns: columns.split(" ").map(column),
  ...more,
});

/**
 * All tables that move, referenced ones first. Live nodes and holds don't move: a stopped service has none.
 * `name:kind:name in SQLite`.
 */
export const movedTables: readonly MovedTable[] = [
  table("accounts", "id", "id email email_folded created_at:seconds"),
  table("sessions", "hash", "hash account_id created_at:seconds last_used_at:seconds"),
  table(
    "tenants",
    "id",
    "id kind plan owner_folded box_url box_tenant_id box_stamp:number watch_seconds:number next_due_ms:number created_at:seconds",
  ),
  table("memberships", "tenant_id account_id", "tenant_id account_id role created_at:seconds"),
  table(
    "pairings",
    "id",
    "id:number tenant_id account_id box_account_id created_at:seconds revoked_at:seconds",
    { counted: true },
  ),
  table("relay_keys", "id", "id tenant_id sealed created_at:seconds revoked_at:seconds"),
  table(
    "devices",
    "account_id token",
    "account_id token platform critical_alerts:yes created_at:seconds registered_at:ms:registered_ms set_aside_at:ms:set_aside_ms",
  ),
  table(
    "relay_claims",
    "id",
    "id:number tenant_id alert_id event timestamp:number reached:tokens devices:number created_at:seconds done_at:seconds",
    { counted: true },
  ),
  table("apns", "id", "id:number version:number key_id team_id topic endpoint ca sealed"),
  table("apns_tokens", "key_id", "key_id sealed iat:number"),
  table(
    "heartbeats",
    "tenant_id",
    "tenant_id heard_at:seconds stamp:number planned:yes silent_since:seconds owed owed_at:seconds",
  ),
  table("outages", "began_at", "began_at:seconds ended_at:seconds"),
  table("report_links", "uuid", "uuid tenant_id"),
  table("tenant_seals", "tenant_id", "tenant_id epoch:number files"),
  table("tenant_tokens", "tenant_id hash", "tenant_id hash"),
  table("sender_links", "hash tenant_id", "hash tenant_id added_at:seconds"),
];

/** A row in the form that both databases share, in the order of its columns. */
export type MovedRow = readonly (string | number | null)[];
