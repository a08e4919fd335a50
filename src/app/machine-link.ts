import { hkdfSync } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { createServer, connect as startTls, type TLSSocket } from "node:tls";
import * as z from "zod";
import type { Clock } from "../ground/kit/clock.ts";
import type { Egress } from "../ground/kit/egress.ts";
import type { KeyRing } from "../ground/kit/key-ring.ts";
import { listenFault } from "./listen-fault.ts";

/**
 * The link between the machines of one box: for each connection that came to a machine that stands by, one to the
 * machine that serves. Both know the box's key and no other secret: TLS with a secret made of it, and no certificates.
 * A line says which port the connection came to and from where, another one that it is taken; then its bytes follow.
 */

/** OpenSSL has no GCM with ECDHE-PSK, and no PSK of its own making in TLS 1.3. */
const WIRE = {
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
} as const;
const SECRET_BYTES = 32;
/** Of a stranger's connection, from its first moment until it has shown who it is. */
const GREETING_MS = 5_000;
/** So many may be about to. The oldest ends for one more. */
const MOST_STRANGERS = 128;
const MOST_LINE = 1_024;
/** A machine that stands still takes connections, and says nothing. */
const ANSWER_MS = 2_500;
const LIFE_MS = 86_400_000;
/** A machine that lost its power says no goodbye. */
const PROBE_MS = 15_000;
const TAKEN = "taken";

const came = z.object({
  /** Which port it came to. */
  port: z.string(),
  address: z.string(),
  peerPort: z.int(),
  /** Whether TLS ended at the port. */
  isSecure: z.boolean(),
  /** SHA-256 of the certificate that it showed there; null for none. */
  certificate: z.string().nullable(),
});

/** How a connection came to a machine that stands by. */
export type Came = z.infer<typeof came>;

/** Hands a connection to a port of this machine, as if it had been accepted there. */
export type TakeSocket = (socket: Socket, came: Pick<Came, "certificate">) => void;

interface MachineLink {
  /** The real one. */
  port: number;
  close(): Promise<void>;
}

interface LinkOptions {
  clock: Clock;
  /** The box's keys as they are now. */
  keys(): KeyRing | null;
  /** What takes connections of this port here; null: this machine doesn't serve. */
  taker(port: string): TakeSocket | null;
}

const secretOf = (key: Buffer) =>
  Buffer.from(hkdfSync("sha256", key, "", "box machine link", SECRET_BYTES));

/** Listens for the other machines. A stranger gets a TLS alert. Throws an Error that says why it can't listen. */
export async function openMachineLink(
  at: { host: string; port: number },
  { clock, keys, taker }: LinkOptions,
): Promise<MachineLink> {
  const open = new Set<Socket>();
  const strangers = new Map<string, Socket>();
  const greet = (socket: TLSSocket) => {
    socket.on("error", () => {});
    readLine(socket, (line) => {
      strangers.delete(idOf(socket));
      const told = understood(line);
      const take = told && taker(told.port);
      if (!take) return void socket.destroy();
      socket.write(`${TAKEN}\n`);
      take(asCame(socket, told), told);
    });
  };
  const server = createServer(
    {
      ...WIRE,
      handshakeTimeout: GREETING_MS,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_MS,
      // Kept where the other end has no more to say.
      allowHalfOpen: true,
      pskCallback: (_socket, identity) => {
        const key = keys()?.keys.get(identity);
        return key === undefined ? null : secretOf(key.bytes);
      },
    },
    greet,
  );
  server.prependListener("connection", (socket: Socket) => {
    const id = idOf(socket);
    const [oldest] = strangers.size < MOST_STRANGERS ? [] : strangers.values();
    oldest?.destroy();
    strangers.set(id, socket);
    open.add(socket);
    const cancel = clock.after(GREETING_MS, () => {
      if (strangers.get(id) === socket) socket.destroy();
    });
    socket.once("close", () => {
      cancel();
      open.delete(socket);
      if (strangers.get(id) === socket) strangers.delete(id);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFault(error, at)));
    server.listen({ ...at, backlog: 1024 }, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** Whose a socket is, plain and with TLS. */
const idOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

function understood(line: string): Came | null {
  try {
    return came.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/** The link's connection as the one that came to the other machine. */
function asCame(socket: TLSSocket, { address, peerPort, isSecure }: Came): Socket {
  const facts = { remoteAddress: address, remotePort: peerPort, encrypted: isSecure };
  for (const [name, value] of Object.entries(facts))
    Object.defineProperty(socket, name, { value, configurable: true });
  return socket;
}

/** Connects to the machine that serves. Resolves once it has taken the connection; rejects where it doesn't. */
export async function dialMachine(
  { host, port }: { host: string; port: number },
  told: Came,
  { clock, egress, keys }: { clock: Clock; egress: Egress; keys(): KeyRing | null },
): Promise<Socket> {
  const key = keys()?.present;
  if (key === undefined) throw new Error("there is no key file");
  const { socket: plain } = await egress.dial({ host, port, lifeMs: LIFE_MS });
  plain.setNoDelay(true);
  plain.setKeepAlive(true, PROBE_MS);
  const socket = startTls({
    socket: plain,
    ...WIRE,
    // Who knows the secret is no stranger, and nobody else ends the handshake.
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk: secretOf(key.bytes), identity: key.id }),
  });
  // Who has said everything may still be answered.
  for (const end of [plain, socket]) end.allowHalfOpen = true;
  return new Promise((resolve, reject) => {
    const lost = (error: Error) => {
      cancel();
      plain.destroy();
      reject(error);
    };
    const cancel = clock.after(ANSWER_MS, () => lost(new Error("it doesn't answer")));
    socket.on("error", lost);
    const ended = () => lost(new Error("it doesn't take connections"));
    socket.once("end", ended);
    socket.once("close", ended);
    readLine(socket, (line) => {
      socket.off("end", ended);
      socket.off("close", ended);
      if (line !== TAKEN) return lost(new Error("it answers something else"));
      cancel();
      socket.off("error", lost).on("error", () => {});
      resolve(socket);
    });
    socket.write(`${JSON.stringify(told)}\n`);
  });
}

/** Calls `take` with the first line. What follows it is left unread, and the socket paused. */
function readLine(socket: Socket, take: (line: string) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const more = (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\n");
    if (end < 0 && bytes.length > MOST_LINE) socket.destroy();
    if (end < 0) return;
    socket.off("data", more);
    socket.pause();
    if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1));
    take(bytes.toString("utf8", 0, end));
  };
  socket.on("data", more);
}
