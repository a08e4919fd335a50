import { version } from "../../ground/kit/assets.ts";
import { type Clock, sleep } from "../../ground/kit/clock.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { Role } from "../../ground/store/columns.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { handedRows, handRows, takeBackRows } from "../../hosted/record/handed.ts";
import type { DatabaseSettings } from "../../hosted/registry/postgres/settings.ts";
import type { Registry } from "../../hosted/registry/registry.ts";
import { freshKey } from "../../people/keys.ts";
import type { Seat } from "../../people/seats.ts";
import { openCommandDatabase } from "./hosted-move.ts";
import { tenantForKey } from "./tenant-for-key.ts";

const LOOK_MS = 100;
/** A node takes it within a second. Longer than until a dead node's tenants are opened by another one. */
const PATIENCE_MS = 30_000;

/**
 * Adds a key by the node that has the tenant, or opens it: a node alone writes a store. The key's hash waits in the database
 * until it is taken. Throws StoreFault where no node takes it; then nothing was added.
 */
export async function addKeyByNode(
  { registry, settings }: { registry: Registry; settings: DatabaseSettings },
  options: { data: string; clock: Clock; random: Random },
  { tenant: id, email, role }: { tenant: string; email: string; role?: Role },
): Promise<{ api_key: string; account_id: string }> {
  const { clock, random } = options;
  const tenant = await tenantForKey(registry, id);
  const { account } = await registry.accounts.add(email);
  const { key, ...kept } = freshKey(random, tenant.id);
  const seat: Seat = {
    account: { id: account.id, email: account.email },
    role: role ?? null,
    key: kept,
  };
  const { database, close } = await openCommandDatabase(settings, options);
  try {
    const file = hexId(random);
    await handRows(database, tenant.id, { id: file, whats: [JSON.stringify(seat)] });
    await registry.tenants.setNextDue(tenant.id, 0);
    const isThere = async () =>
      (await handedRows(database, tenant.id, { version, most: 1_000 })).some(
        (row) => row.id === file,
      );
    const until = clock.mono() + PATIENCE_MS;
    while (await isThere()) {
      if (clock.mono() >= until && (await takeBackRows(database, tenant.id, file)))
        throw new StoreFault(
          "unavailable",
          "No node has taken the key: start one (box hosted serve), and try again. Nothing was added.",
        );
      await sleep(clock, LOOK_MS);
    }
  } finally {
    close();
  }
  return { api_key: key, account_id: account.id };
}
