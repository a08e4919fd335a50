import type { Reader } from "../../../ground/store/store.ts";

export function isLiveKey(
  reader: Reader,
  { relayKeyId, tenantId }: { relayKeyId: string; tenantId: string },
): boolean {
  const live = reader
    .sql<[keyId: string, tenantId: string], unknown>(
      "SELECT 1 FROM relay_keys WHERE id = ? AND tenant_id = ? AND revoked_at IS NULL",
    )
    .get(relayKeyId, tenantId);
  return live !== undefined;
}
