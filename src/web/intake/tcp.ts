import { createServer, type Socket } from "node:net";
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from "node:tls";
import type { Format } from "./format.ts";
import type { Port } from "./port.ts";
import type { SyslogPeer } from "./senders.ts";
import { createShares } from "./shares.ts";
import type { Taker } from "./taker.ts";
import type { OpenPort } from "./udp.ts";

const MOST_CONNECTIONS = 512;
/** Of one address: a machine may have a connection for each of its containers. */
const MOST_OF_ADDRESS = 256;
/** Without a message that belongs to a source; and once there was one. */
const STRANGER_MS = 60_000;
const IDLE_MS = 3_600_000;
const HANDSHAKE_MS = 10_000;

export interface TlsFiles {
  cert: string;
  key: string;
}

/** A port of connections. */
export interface OpenStream extends OpenPort {
  /** Gives it a new certificate. */
  renew(tls: TlsFiles): void;
  /** Serves a connection that was accepted elsewhere. It is paused. */
  take(socket: Socket, came: { certificate: string | null }): void;
}

/** A certificate of the sender's own is asked for and vouched for by nobody: which one it is tells who it is. */
export const senderTls = {
  handshakeTimeout: HANDSHAKE_MS,
  requestCert: true,
  rejectUnauthorized: false,
} as const;

/** Listens for connections, with TLS where it has files. Rejects with the system's own error. */
export function openTcp(
  { host, port }: Port,
  { format, taker, tls }: { format: Format; taker: Taker; tls: TlsFiles | null },
): Promise<OpenStream> {
  const sockets = new Set<Socket>();
  const shares = createShares(MOST_OF_ADDRESS);
  const take = (socket: Socket, certificate: string | null) => {
    if (socket.destroyed) return;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    void serve(socket, { address: socket.remoteAddress ?? "", certificate }, { format, taker });
  };
  const accept = (socket: Socket) => take(socket, certificateOf(socket));
  const server =
    tls === null ? createServer(accept) : createTlsServer({ ...tls, ...senderTls }, accept);
  const admit = (socket: Socket) => {
    if (sockets.size < MOST_CONNECTIONS && shares.admits(socket)) return;
    taker.count("overloaded");
    socket.destroy();
  };
  // Before the handshake: who never ends it has a place, too.
  server.prependListener("connection", admit);
  server.maxConnections = MOST_CONNECTIONS;
  server.on("drop", () => taker.count("overloaded"));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host }, () => {
      server.removeListener("error", reject);
      const address = server.address();
      resolve({
        port: typeof address === "object" && address !== null ? address.port : port,
        renew: (files) => (server as TlsServer).setSecureContext(files),
        take(socket, { certificate }) {
          admit(socket);
          take(socket, certificate);
        },
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            for (const socket of sockets) socket.destroy();
          }),
      });
    });
  });
}

/** The SHA-256 of what a TLS client showed and proved to have the key of. */
export function certificateOf(socket: Socket): string | null {
  const fingerprint =
    "getPeerCertificate" in socket ? (socket as TLSSocket).getPeerCertificate().fingerprint256 : "";
  return fingerprint ? fingerprint.replaceAll(":", "").toLowerCase() : null;
}

/** Reads on only when what came is committed: the sender's own queue holds the rest. */
async function serve(
  socket: Socket,
  peer: SyslogPeer,
  { format, taker }: { format: Format; taker: Taker },
): Promise<void> {
  if (!taker.mayComeFrom(peer.address)) {
    taker.count("not_allowed");
    socket.destroy();
    return;
  }
  socket.setTimeout(STRANGER_MS, () => socket.destroy());
  const frames = format.frames();
  const before = taker.counts.outcomes.taken;
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      await taker.take(frames.push(chunk), peer);
      if (taker.counts.outcomes.taken > before) socket.setTimeout(IDLE_MS);
      if (frames.broken) {
        taker.count("unreadable");
        break;
      }
    }
  } catch {
    // A connection that broke: what is whole was taken.
  }
  await taker.take(frames.end(), peer);
  socket.destroy();
}
