import { createSocket } from "node:dgram";
import { isIPv6, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { othersFirst } from "../ground/kit/slices.ts";
import { packedDatagram } from "../web/intake/datagrams.ts";
import { type Port, portId } from "../web/intake/port.ts";
import type { BoxDeps } from "./parts.ts";
import type { Forwarder } from "./standby-forward.ts";

/** So many are kept until the machine that serves has taken them, and so many bytes. */
const MOST = 5_000;
const MOST_BYTES = 4 * 1024 * 1024;
/** What the system keeps before it is read. */
const BUFFER = 4 * 1024 * 1024;
const AGAIN_MS = 250;
/** Turns of the event loop that what the system keeps is read in; in the latest of them nothing came. */
const MOST_TURNS = 200;
const QUIET_TURNS = 2;

/**
 * A port for datagrams of a machine that stands by. All of them go to the machine that serves by one connection, which is
 * answered with a byte for each that is taken for good. What isn't answered is sent again, also to the next one that serves.
 * Rejects with the system's own error.
 */
export async function openStandbyDatagrams(
  port: Port,
  { clock }: Pick<BoxDeps, "clock">,
  forwarder: Pick<Forwarder, "send" | "counts" | "isClosed">,
): Promise<{ port: number; drain(): Promise<void>; close(): Promise<void> }> {
  const { counts } = forwarder;
  const waiting: Buffer[] = [];
  let [bytes, sent, came] = [0, 0, 0];
  let way: Duplex | null = null;
  let isUnread = false;

  const taken = (n: number) => {
    for (const one of waiting.splice(0, n)) bytes -= one.length;
    sent = Math.max(0, sent - n);
    counts.datagrams += n;
  };
  const begin = (): Duplex => {
    const [near, far] = duplexPair();
    near.on("data", (answer: Buffer) => taken(answer.length)).on("error", () => {});
    far.once("close", () => {
      near.destroy();
      way = null;
      [sent, isUnread] = [0, false];
      clock.after(AGAIN_MS, send);
    });
    const socket = Object.assign(far, { destroySoon: () => far.destroy() }) as unknown as Socket;
    const how = { isSecure: false, certificate: null, isAsking: false };
    forwarder.send({ ...how, socket, port: portId(port), late: () => far.destroy() });
    return near;
  };
  /** What comes until the latest was read goes together: whoever takes it writes it with one commit. */
  const send = () => {
    if (forwarder.isClosed() || isUnread || sent === waiting.length) return;
    way ??= begin();
    const more = Buffer.concat(waiting.slice(sent));
    [sent, isUnread] = [waiting.length, true];
    way.write(more, (fault) => {
      // A way that closed is opened again after a while.
      if (fault) return;
      isUnread = false;
      send();
    });
  };
  const socket = createSocket({
    type: isIPv6(port.host) ? "udp6" : "udp4",
    recvBufferSize: BUFFER,
  });
  socket.on("message", (message, { address }) => {
    came++;
    const one = packedDatagram({ address, bytes: message });
    if (waiting.length === MOST || bytes + one.length > MOST_BYTES) return void counts.dropped++;
    bytes += one.length;
    waiting.push(one);
    send();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address: port.host, port: port.port }, () => {
      socket.off("error", reject).on("error", () => {});
      resolve();
    });
  });
  return {
    port: socket.address().port,
    /** Reads what the system has got: what is unread when the port is closed would be lost. */
    async drain() {
      for (let [turn, quiet] = [0, 0]; turn < MOST_TURNS && quiet < QUIET_TURNS; turn++) {
        const before = came;
        await othersFirst();
        quiet = came === before ? quiet + 1 : 0;
      }
    },
    // What came is still sent on.
    close: () => new Promise((done) => socket.close(() => done())),
  };
}
