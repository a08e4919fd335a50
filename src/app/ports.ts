import type { Limits } from "../http/limits.ts";
import type { Intake } from "../intake/intake.ts";
import type { Clock } from "../kit/clock.ts";
import type { Tenant } from "../tenant/tenant.ts";
import { type BoxConfig, cidrs } from "./config.ts";
import { listenFault, readTls } from "./listen-fault.ts";

/** Opens the ports that are configured; null for none, and then nothing of theirs is loaded. Throws why it can't. */
export async function openPorts(
  { intake, tls }: BoxConfig,
  { tenant, clock, limits }: { tenant: Tenant; clock: Clock; limits: Limits },
): Promise<Intake | null> {
  if (intake.ports.length === 0) return null;
  const { openIntake, PortFault } = await import("../intake/intake.ts");
  try {
    const opened = await openIntake(intake.ports, {
      ...{ tenant, clock, allowFrom: cidrs(intake.allowFrom) },
      spend: (events) => void limits.ingest.spend(tenant.id, events),
      tls: tls === null ? null : readTls(tls),
    });
    for (const port of opened.ports) tenant.log.info({ ...port }, "listening for senders");
    return opened;
  } catch (error) {
    throw error instanceof PortFault ? listenFault(error.cause, error.port) : error;
  }
}
