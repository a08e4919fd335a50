import { createFormat } from "./format.ts";
import { createLoopTurn } from "./loop-turn.ts";
import { type Port, type PortCounts, type PortName, portId } from "./port.ts";
import { createTaker, type IntakeDeps, type Taker, type TakerDeps } from "./taker.ts";
import { type OpenStream, openTcp, type TlsFiles } from "./tcp.ts";
import { type OpenDatagrams, openUdp } from "./udp.ts";

/** The ports that are open. */
export interface Intake {
  /** With the real port numbers. */
  readonly ports: readonly { name: PortName; host: string; port: number }[];
  counts(): PortCounts[];
  /** What takes connections of this port; null for none. */
  taker(id: string): OpenStream["take"] | null;
  /** Takes up a renewed certificate. */
  renew(tls: TlsFiles): void;
  /** Nothing more is read; what was read and waits for its commit is the tenant's to write. */
  stop(): Promise<void>;
}

interface OpenDeps extends IntakeDeps {
  /** It is there where a port needs it. */
  tls: TlsFiles | null;
  /** Makes a port free that this machine had while it stood by. */
  free(port: Port): Promise<Port>;
}

/** Opens all ports, or none. Rejects with PortFault. */
export async function openIntake(ports: readonly Port[], deps: OpenDeps): Promise<Intake> {
  const open: Opened[] = [];
  const turn = createLoopTurn(deps.clock);
  const stop = async () => {
    for (const { taker } of open) taker.stop();
    await Promise.all(open.map(({ socket }) => socket.close()));
  };
  for (const port of ports) {
    try {
      open.push(await openOne(port, { ...deps, turn }));
    } catch (error) {
      await stop();
      throw new PortFault(port, error);
    }
  }
  return {
    ports: open.map(({ port: { name, host }, socket: { port } }) => ({ name, host, port })),
    counts: () => open.map(({ taker }) => taker.counts),
    taker(id) {
      return open.find(({ port }) => portId(port) === id)?.socket.take ?? null;
    },
    renew(tls) {
      for (const { port, socket } of open)
        if ((port.name === "smtp" || port.name.endsWith("-tls")) && "renew" in socket)
          socket.renew(tls);
    },
    stop,
  };
}

interface Opened {
  port: Port;
  taker: Pick<Taker, "stop" | "counts">;
  socket: OpenDatagrams | OpenStream;
}

async function openOne(port: Port, { tls, free, ...deps }: TakerDeps & OpenDeps): Promise<Opened> {
  const { clock } = deps;
  const { name } = port;
  if (name === "smtp") {
    const [{ openMail }, { createMailTaker }] = await Promise.all([
      import("./mail.ts"),
      import("./mail-taker.ts"),
    ]);
    const taker = createMailTaker(port, deps);
    return { port, taker, socket: await openMail(await free(port), { taker, clock, tls }) };
  }
  const format = createFormat[name](deps.senderClock);
  const taker = createTaker(port, format, deps);
  const behind = { format, taker, clock };
  // Only now: what comes while code is loaded for another port is kept by the one that stood by.
  const own = await free(port);
  const socket = name.endsWith("-udp")
    ? await openUdp(own, behind)
    : await openTcp(own, { ...behind, tls: name.endsWith("-tls") ? tls : null });
  return { port, taker, socket };
}

/** A port that can't be opened; `cause` is the system's error. */
export class PortFault extends Error {
  readonly port: Port;

  constructor(port: Port, cause: unknown) {
    super(`--${port.name} can't be opened`, { cause });
    this.port = port;
  }
}
