import type { Tx } from "../../../ground/store/store.ts";
import type { TenantLinks } from "../tenant-links.ts";
import type { SqliteDeps } from "./deps.ts";

interface Statements {
  find: string;
  present: string;
  /** Takes key and tenant. */
  remove: string;
  /** Takes key and tenant, and where `dated` the time in seconds. */
  add: string;
  dated: boolean;
}

/** Public reports, by the UUID in their address. */
export const sqliteReportLinks = (deps: SqliteDeps): TenantLinks =>
  sqliteLinks(deps, {
    find: "SELECT tenant_id FROM report_links WHERE uuid = ?",
    present: "SELECT uuid FROM report_links WHERE tenant_id = ?",
    remove: "DELETE FROM report_links WHERE uuid = ? AND tenant_id = ?",
    add: "INSERT OR REPLACE INTO report_links (uuid, tenant_id) VALUES (?, ?)",
    dated: false,
  });

/** Short tokens of sources and addresses of heartbeats, by their SHA-256. */
export const sqliteSenderLinks = (deps: SqliteDeps): TenantLinks =>
  sqliteLinks(deps, {
    find: "SELECT tenant_id FROM sender_links WHERE hash = ? ORDER BY added_at, tenant_id LIMIT 1",
    present: "SELECT hash FROM sender_links WHERE tenant_id = ?",
    remove: "DELETE FROM sender_links WHERE hash = ? AND tenant_id = ?",
    add: "INSERT INTO sender_links (hash, tenant_id, added_at) VALUES (?, ?, ?)",
    dated: true,
  });

function sqliteLinks({ store, write }: SqliteDeps, statements: Statements): TenantLinks {
  return {
    find: async (key) => store.sql<[string], string>(statements.find).pluck().get(key) ?? null,
    replace: (tenantId, keys) => write((tx) => replaceLinks(tx, statements, { tenantId, keys })),
  };
}

/** Writes only differences; usually there are none. */
function replaceLinks(
  tx: Tx,
  { present, remove, add, dated }: Statements,
  { tenantId, keys }: { tenantId: string; keys: readonly string[] },
): void {
  const wanted = new Set(keys);
  for (const key of tx.sql<[string], string>(present).pluck().all(tenantId))
    if (!wanted.delete(key)) tx.sql<[string, string]>(remove).run(key, tenantId);
  for (const key of wanted)
    tx.sql<(string | number)[]>(add).run(key, tenantId, ...(dated ? [tx.at] : []));
}
