import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import type { Format } from "./format.ts";
import type { Port } from "./port.ts";
import type { Taker } from "./taker.ts";

/** A socket that listens. */
export interface OpenPort {
  /** The real one. */
  port: number;
  close(): Promise<void>;
}

/** What the system keeps of a burst before it is read; it may give less. */
const BUFFER = 4 * 1024 * 1024;

/** Listens for datagrams. Rejects with the system's own error. */
export function openUdp(
  { host, port }: Port,
  { format, taker, clock }: { format: Format; taker: Taker; clock: Clock },
): Promise<OpenPort> {
  const socket = createSocket({ type: isIPv6(host) ? "udp6" : "udp4", recvBufferSize: BUFFER });
  socket.on("message", (bytes, { address }) => {
    if (!taker.mayComeFrom(address)) return taker.count("not_allowed");
    const frame = format.datagram(bytes, { peer: address, mono: clock.mono() });
    if (frame !== null) taker.offer(frame, { address, certificate: null });
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address: host, port }, () => {
      socket.removeListener("error", reject);
      // A port that nobody listens on answers our own packets so; there are none.
      socket.on("error", () => {});
      resolve({
        port: socket.address().port,
        close: () => new Promise((done) => socket.close(() => done())),
      });
    });
  });
}
