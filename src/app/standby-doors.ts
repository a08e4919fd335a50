import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { clientAddress } from "../web/http/address.ts";
import { createConnections } from "../web/http/connections.ts";
import { type Port, portId } from "../web/intake/port.ts";
import { certificateOf, senderTls } from "../web/intake/tcp.ts";
import type { BoxConfig } from "./config.ts";
import { listenFault, readTls } from "./listen-fault.ts";
import type { BoxDeps } from "./parts.ts";
import { openStandbyDatagrams } from "./standby-datagrams.ts";
import { openStandbyDoor, type StandbyState } from "./standby-door.ts";
import type { Forwarder } from "./standby-forward.ts";

/** The ports of a machine that stands by. */
export type StandbyDoors = Awaited<ReturnType<typeof openStandbyDoors>>;

interface Door {
  port: number;
  reload(): void;
  drain?(): Promise<void>;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 1_024;
const MOST_OF_ADDRESS = 512;

/** Opens its own port, and where it sends on what comes also the others. Throws why it can't listen. */
export async function openStandbyDoors(
  config: BoxConfig,
  deps: BoxDeps,
  now: () => StandbyState,
  forwarder: Forwarder | null,
) {
  const doors = new Map<string, Door>();
  const close = async () => {
    await Promise.all([...doors.values()].map((door) => door.close()));
  };
  const webDoor = async (id: string, at: { host: string; port: number }) => {
    const door = await openStandbyDoor({ ...config, ...at }, deps, now, { id, forwarder });
    const port = Number(new URL(door.url).port);
    doors.set(id, { port, reload: door.reload, close: () => door.close(() => {}) });
    return door.url;
  };
  try {
    const url = await webDoor("http", config);
    if (forwarder !== null) {
      const { adapters, intake } = config;
      if (adapters.listen !== null) await webDoor("adapters", adapters.listen);
      for (const port of intake.web) await webDoor(portId(port), port);
      for (const port of intake.ports)
        doors.set(portId(port), await openPort(port, config, deps, forwarder));
    }
    return {
      /** Of its own port. */
      url,
      reload() {
        for (const door of doors.values()) door.reload();
      },
      /** Accepts no more there, and keeps what came. Its real number; null where it isn't open. */
      async free(id: string): Promise<number | null> {
        const door = doors.get(id);
        if (door === undefined) return null;
        doors.delete(id);
        await door.drain?.();
        void door.close();
        return door.port;
      },
      /** Accepts no more anywhere. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openPort(
  port: Port,
  config: BoxConfig,
  deps: BoxDeps,
  forwarder: Forwarder,
): Promise<Door> {
  if (!port.name.endsWith("-udp")) return openStream(port, config, deps, forwarder);
  try {
    return { ...(await openStandbyDatagrams(port, deps, forwarder)), reload() {} };
  } catch (error) {
    throw listenFault(error, port);
  }
}

/** A port of a sender's own protocol: each connection is the serving machine's from its first byte on. */
async function openStream(
  port: Port,
  { tls }: BoxConfig,
  { clock }: BoxDeps,
  forwarder: Forwarder,
): Promise<Door> {
  const isSecure = port.name.endsWith("-tls");
  const send = (socket: Socket) =>
    forwarder.send({
      socket,
      port: portId(port),
      isSecure,
      certificate: certificateOf(socket),
      isAsking: false,
      late: () => socket.destroy(),
    });
  const accepted = { noDelay: true, allowHalfOpen: true };
  const server =
    isSecure && tls !== null
      ? createTlsServer({ ...accepted, ...readTls(tls), ...senderTls }, send)
      : createServer(accepted, send);
  const connections = createConnections({
    address: clientAddress([]),
    clock,
    limits: { connections: MOST_CONNECTIONS, connectionsPerAddress: MOST_OF_ADDRESS },
  });
  server.prependListener("connection", connections.enter);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown) => reject(listenFault(error, port));
    server.once("error", fail);
    server.listen({ port: port.port, host: port.host }, () => {
      server.removeListener("error", fail);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    reload() {
      if (tls !== null && isSecure) (server as TlsServer).setSecureContext(readTls(tls));
    },
    // What it accepted is the forwarder's.
    close: async () => void server.close(),
  };
}
