import { Zone } from "../core/oncall/zone.ts";
import { followSource } from "../core/projects/sources.ts";
import { mayCome } from "../ground/kit/addresses.ts";
import type { Clock } from "../ground/kit/clock.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { App } from "../web/http/app.ts";
import type { SendersPort } from "../web/http/inbound/route.ts";
import type { Limits } from "../web/http/limits.ts";
import type { Intake } from "../web/intake/intake.ts";
import { type PortName, type WebPortName, webPortKinds } from "../web/intake/port.ts";
import { type BoxConfig, cidrs } from "./config.ts";
import { listenFault, readTls } from "./listen-fault.ts";
import { type Listening, listen } from "./web.ts";

/** An open port for senders. */
export interface SendersOpenPort {
  readonly name: PortName | WebPortName;
  readonly host: string;
  readonly port: number;
}

/** Opens the configured ports for senders; null for none. Loads their code only if needed. Throws why it fails. */
export async function openPorts(
  { intake, tls }: BoxConfig,
  { tenant, clock, limits }: { tenant: Tenant; clock: Clock; limits: Limits },
): Promise<Intake | null> {
  if (intake.ports.length === 0) return null;
  const { openIntake, PortFault } = await import("../web/intake/intake.ts");
  try {
    const opened = await openIntake(intake.ports, {
      tenant,
      clock,
      allowFrom: cidrs(intake.allowFrom),
      senders: intake.senders,
      senderClock: clockIn(intake.syslogZone),
      spend: (events) => void limits.ingest.spend(tenant.id, events),
      guess: (address) => void limits.strangers.spend(address),
      tls: tls === null ? null : readTls(tls),
    });
    for (const port of opened.ports) tenant.log.info({ ...port }, "listening for senders");
    return opened;
  } catch (error) {
    throw error instanceof PortFault ? listenFault(error.cause, error.port) : error;
  }
}

/** Turns a time on the zone's clocks into an instant: the first, where it comes twice. */
function clockIn(zone: string | null): ((civil: number) => number) | undefined {
  if (zone === null) return undefined;
  const there = new Zone(zone);
  return (civil) => there.first(civil);
}

/** Opens the ports for HTTP senders that need one of their own: all or none. Throws why it fails. */
export async function openWebPorts(
  { intake, tls }: BoxConfig,
  from: {
    tenant: Tenant;
    serve: Parameters<typeof listen>[1];
    senders(port: SendersPort): Promise<App>;
  },
): Promise<Omit<Listening, "url"> & { ports: readonly SendersOpenPort[] }> {
  const { tenant, serve, senders } = from;
  const allowed = cidrs(intake.allowFrom);
  const open: { port: SendersOpenPort; web: Listening }[] = [];
  const close = async (wake: () => void) => {
    await Promise.all(open.map(({ web }) => web.close(wake)));
  };
  for (const { name, host, port, bound } of intake.web) {
    const find = bound === null ? () => null : followSource(tenant.store, bound);
    const app = () =>
      senders({
        kind: webPortKinds[name],
        bound() {
          const source = find();
          return source === null ? null : { tenant, source };
        },
        mayComeFrom: (address) => mayCome(address, allowed),
      });
    try {
      const web = await listen({ host, port, tls }, { ...serve, app });
      open.push({
        port: { name, host, port: Number(web.url.slice(web.url.lastIndexOf(":") + 1)) },
        web,
      });
      tenant.log.info({ port: name, listen: web.url }, "listening for senders");
    } catch (error) {
      await close(() => {});
      throw error;
    }
  }
  return {
    ports: open.map(({ port }) => port),
    reload() {
      for (const { web } of open) web.reload();
    },
    close,
  };
}
