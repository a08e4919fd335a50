import { Zone } from "../core/oncall/zone.ts";
import { followSource } from "../core/projects/sources.ts";
import { mayCome } from "../ground/kit/addresses.ts";
import type { Clock } from "../ground/kit/clock.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { App } from "../web/http/app.ts";
import type { SendersPort } from "../web/http/inbound/route.ts";
import type { Limits } from "../web/http/limits.ts";
import type { Intake } from "../web/intake/intake.ts";
import {
  type Port,
  type PortName,
  portId,
  type WebPortName,
  webPortKinds,
} from "../web/intake/port.ts";
import { type BoxConfig, cidrs } from "./config.ts";
import { listenFault, readTls } from "./listen-fault.ts";
import { type Listening, listen } from "./web.ts";

/** An open port for senders. */
interface SendersOpenPort {
  readonly name: PortName | WebPortName;
  readonly host: string;
  readonly port: number;
}

/** The port to listen on, which nobody of this process listens on any more. */
export type FreePort = <P extends Port<string>>(port: P) => Promise<P>;

/** Ports for HTTP senders. */
interface OpenWebPorts extends Omit<Listening, "url" | "take"> {
  readonly ports: readonly SendersOpenPort[];
  /** What takes connections of this port; null for none. */
  taker(id: string): Listening["take"] | null;
}

/** Opens the configured ports for senders; null for none. Loads their code only if needed. Throws why it fails. */
export async function openPorts(
  { intake, tls }: BoxConfig,
  { tenant, clock, limits, free }: { tenant: Tenant; clock: Clock; limits: Limits; free: FreePort },
): Promise<Intake | null> {
  if (intake.ports.length === 0) return null;
  const { openIntake, PortFault } = await import("../web/intake/intake.ts");
  try {
    const opened = await openIntake(intake.ports, {
      tenant,
      free,
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
    free: FreePort;
  },
): Promise<OpenWebPorts> {
  const { tenant, serve, senders, free } = from;
  const allowed = cidrs(intake.allowFrom);
  const open: { id: string; port: SendersOpenPort; web: Listening }[] = [];
  const close: Listening["close"] = async (wake, limitMs) => {
    await Promise.all(open.map(({ web }) => web.close(wake, limitMs)));
  };
  for (const given of intake.web) {
    const { name, host, port, bound } = await free(given);
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
        id: portId(given),
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
    taker: (id) => open.find((one) => one.id === id)?.web.take ?? null,
    reload() {
      for (const { web } of open) web.reload();
    },
    close,
  };
}
