import type { TenantLinks } from "../tenant-links.ts";
import type { PostgresDeps } from "./deps.ts";

/** Public reports, by the UUID in their address. */
export const postgresReportLinks = (deps: PostgresDeps): TenantLinks =>
  postgresLinks(deps, {
    find: "SELECT tenant_id FROM report_links WHERE uuid = $1",
    replace: `WITH gone AS (
        DELETE FROM report_links WHERE tenant_id = $1 AND uuid <> ALL ($2::text[]) RETURNING 1)
      INSERT INTO report_links AS l (uuid, tenant_id) SELECT uuid, $1 FROM unnest($2::text[]) AS k(uuid) ORDER BY uuid
      ON CONFLICT (uuid) DO UPDATE SET tenant_id = $1 WHERE l.tenant_id <> $1`,
  });

/** Short tokens of sources and addresses of heartbeats, by their SHA-256. */
export const postgresSenderLinks = (deps: PostgresDeps): TenantLinks =>
  postgresLinks(deps, {
    find: `SELECT tenant_id FROM sender_links WHERE hash = $1 ORDER BY added_at, tenant_id LIMIT 1`,
    replace: `WITH gone AS (
        DELETE FROM sender_links WHERE tenant_id = $1 AND hash <> ALL ($2::text[]) RETURNING 1)
      INSERT INTO sender_links (hash, tenant_id, added_at)
      SELECT hash, $1, now() FROM unnest($2::text[]) AS k(hash) ORDER BY hash ON CONFLICT DO NOTHING`,
  });

/** `replace` writes only differences; usually there are none. */
function postgresLinks(
  { database }: PostgresDeps,
  statements: { find: string; replace: string },
): TenantLinks {
  return {
    async find(key) {
      const [row] = await database.query<{ tenant_id: string }>(statements.find, [key]);
      return row?.tenant_id ?? null;
    },
    async replace(tenantId, keys) {
      await database.query(statements.replace, [tenantId, [...new Set(keys)]]);
    },
  };
}
