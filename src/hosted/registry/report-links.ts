import type { Room } from "./room.ts";

/** Which hosted tenant a public report's address leads to. */
export interface ReportLinks {
  find(uuid: string): Promise<string | null>;
  /** Makes `uuids` all of the tenant's links. */
  replace(tenantId: string, uuids: readonly string[]): Promise<void>;
}

export function reportLinksIn(room: Room): ReportLinks {
  return {
    find: async (uuid) =>
      room.store
        .sql<[uuid: string], string>("SELECT tenant_id FROM report_links WHERE uuid = ?")
        .pluck()
        .get(uuid) ?? null,
    async replace(tenantId, uuids) {
      const present = room.store
        .sql<[tenantId: string], string>("SELECT uuid FROM report_links WHERE tenant_id = ?")
        .pluck()
        .all(tenantId);
      const wanted = new Set(uuids);
      const gone = present.filter((uuid) => !wanted.delete(uuid));
      if (wanted.size + gone.length === 0) return;
      await room.write((tx) => {
        for (const uuid of gone)
          tx.sql<[uuid: string, tenantId: string]>(
            "DELETE FROM report_links WHERE uuid = ? AND tenant_id = ?",
          ).run(uuid, tenantId);
        for (const uuid of wanted)
          tx.sql<[uuid: string, tenantId: string]>(
            "INSERT OR REPLACE INTO report_links (uuid, tenant_id) VALUES (?, ?)",
          ).run(uuid, tenantId);
      });
    },
  };
}
