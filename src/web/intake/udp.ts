import { createSocket } from "node:dgram";
import { isIPv6, type Socket } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import { createDatagramReader, type Datagram } from "./datagrams.ts";
import type { Format } from "./format.ts";
import type { Port } from "./port.ts";
import type { Taker } from "./taker.ts";

/** A socket that listens. */
export interface OpenPort {
  /** The real one. */
  port: number;
  close(): Promise<void>;
}

/** A port for datagrams. */
export interface OpenDatagrams extends OpenPort {
  /** Takes those that came to another machine, by this connection from it. */
  take(socket: Socket): void;
}

/** What the system keeps of a burst before it is read; it may give less. */
const BUFFER = 4 * 1024 * 1024;

/** Listens for datagrams. Rejects with the system's own error. */
export function openUdp(
  { host, port }: Port,
  { format, taker, clock }: { format: Format; taker: Taker; clock: Clock },
): Promise<OpenDatagrams> {
  const sockets = new Set<Socket>();
  const framed = ({ address, bytes }: Datagram) => {
    if (taker.mayComeFrom(address))
      return format.datagram(bytes, { peer: address, mono: clock.mono() });
    taker.count("not_allowed");
    return null;
  };
  /** Answers each datagram with a byte once it is taken for good, or lost for good. */
  const serve = async (linked: Socket) => {
    const read = createDatagramReader();
    for await (const chunk of linked as AsyncIterable<Buffer>) {
      const datagrams = read(chunk);
      // All that has come meanwhile is written with one commit.
      for (let more = linked.read(); more !== null; more = linked.read())
        datagrams.push(...read(more));
      const frames = datagrams.flatMap((one) => {
        const frame = framed(one);
        return frame === null ? [] : [{ frame, address: one.address }];
      });
      const bySender = Map.groupBy(frames, ({ address }) => address);
      await Promise.all(
        [...bySender].map(([address, all]) =>
          taker.take(
            all.map(({ frame }) => frame),
            { address, certificate: null },
          ),
        ),
      );
      if (taker.isStopped()) return;
      linked.write("+".repeat(datagrams.length));
    }
  };
  const socket = createSocket({ type: isIPv6(host) ? "udp6" : "udp4", recvBufferSize: BUFFER });
  socket.on("message", (bytes, { address }) => {
    const frame = framed({ address, bytes });
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
        take(linked) {
          sockets.add(linked);
          void serve(linked)
            .catch(() => {})
            .finally(() => {
              sockets.delete(linked);
              linked.destroy();
            });
        },
        close: () =>
          new Promise((done) => {
            for (const linked of sockets) linked.destroy();
            socket.close(() => done());
          }),
      });
    });
  });
}
