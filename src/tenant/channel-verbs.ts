import type { Integration } from "../core/projects/integration.ts";
import { mustFind } from "../core/projects/integrations.ts";
import type { Project } from "../core/projects/projects.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Tx } from "../ground/store/store.ts";
import { type ChannelHealth, healthOf } from "../out/outbox/channel-health.ts";
import { resendDelivery } from "../out/outbox/rows.ts";
import type { Tenant } from "./tenant.ts";

/** A channel and its present state. */
export type ChannelNow = Integration & { health: ChannelHealth; device_count?: number };

/** The channels with their health, and how many devices the caller's pushes would reach (contract §13). */
export async function channelsNow(
  { store, outbox, channels, devices }: Tenant,
  accountId: string,
  integrations: readonly Integration[],
): Promise<ChannelNow[]> {
  const isCounted = ({ type }: Integration) => channels.find(type)?.pushes === true;
  const count = integrations.some(isCounted) ? (await devices.list(accountId)).length : 0;
  return integrations.flatMap((row) => {
    const health = healthOf(store, row.id, outbox.breaker);
    // The channel was deleted while the devices were counted.
    if (health === null) return [];
    return [{ ...row, health, ...(isCounted(row) && { device_count: count }) }];
  });
}

/**
 * Sends a delivery's event again. Returns the new delivery's id. Throws 404, and 409 where the channel is off or the
 * delivery can't be sent again.
 */
export function sendAgain(
  tx: Tx,
  project: Project,
  { channel, delivery }: { channel: string; delivery: string },
): string {
  const row = mustFind(tx, project, channel);
  if (row.enabled === 0)
    throw new ServiceError("integration_disabled", "The integration is disabled: enable it first.");
  return resendDelivery(tx, row.id, delivery);
}
