import type { Socket } from "node:net";
import type { Clock } from "../ground/kit/clock.ts";
import type { Came, TakeSocket } from "./machine-link.ts";

/** So long a connection is held while nobody serves. */
const HOLD_MS = 20_000;
const MOST_HELD = 2_000;
/** What of them is read while they are held, of each and of all together. */
const MOST_READ = 65_536;
const MOST_READ_OF_ALL = 16 * 1024 * 1024;
/** Connections to the machine that serves that are being opened at once; one where it doesn't answer. */
const MOST_DIALS = 32;
const AGAIN_MS = 250;
const CLOSE_MS = 1_000;

/** The machine that serves, as the database has it. */
export interface Owner {
  run: string;
  /** HOST:PORT of its link; null: it has none. */
  address: string | null;
}

/** A connection that came to a port of this machine. It is paused. */
export interface Coming {
  socket: Socket;
  port: string;
  isSecure: boolean;
  certificate: string | null;
  /**
   * Nobody on the other end is there any more once it has ended: it is read while it is held, so that nobody serves
   * whoever has gone away. Else it is left unread, since its sender may have said everything.
   */
  isAsking: boolean;
  /** It was held for as long as it may be, or there are too many. */
  late(): void;
}

export type Forwarder = ReturnType<typeof createForwarder>;

interface Held extends Coming {
  isTried: boolean;
  read: Buffer[];
  stop(): void;
}

/** `dial`: opens the link for a connection, once it is taken there. */
export function createForwarder(
  clock: Clock,
  dial: (address: string, came: Came) => Promise<Socket>,
) {
  const held = new Set<Held>();
  const joined = new Set<Socket>();
  const links = new Set<Socket>();
  const counts = { forwarded: 0, refused: 0, datagrams: 0, dropped: 0 };
  let owner: Owner | null = null;
  let own: ((port: string) => TakeSocket | null) | null = null;
  let failed: string | null = null;
  let refused = () => {};
  let [dials, readBytes] = [0, 0];
  let isOver = false;
  let cancelPump: (() => void) | null = null;

  const letGo = (one: Held): boolean => {
    if (!held.delete(one)) return false;
    one.stop();
    for (const chunk of one.read) readBytes -= chunk.length;
    return true;
  };
  /** Its bytes are unread again. */
  const back = (one: Held) => {
    const { socket, read } = one;
    socket.pause();
    if (socket.readableEnded) socket.destroy();
    else if (read.length > 0 && !socket.destroyed) socket.unshift(Buffer.concat(read));
  };
  const refuse = (one: Held) => {
    if (!letGo(one)) return;
    counts.refused++;
    back(one);
    one.late();
  };
  const hold = (coming: Coming): Held => {
    const { socket } = coming;
    const one: Held = { ...coming, isTried: false, read: [], stop() {} };
    if (socket.destroyed) return one;
    const cancel = clock.after(HOLD_MS, () => refuse(one));
    const gone = () => void letGo(one);
    let size = 0;
    const more = (chunk: Buffer) => {
      size += chunk.length;
      readBytes += chunk.length;
      one.read.push(chunk);
      if (readBytes > MOST_READ_OF_ALL) refuse(one);
      else if (size > MOST_READ) socket.pause();
    };
    const ended = () => {
      if (owner === null || failed !== null) socket.destroy();
    };
    socket.on("error", () => {});
    socket.once("close", gone);
    one.stop = () => {
      cancel();
      socket.off("close", gone);
      socket.off("data", more);
      socket.off("end", ended);
    };
    held.add(one);
    if (held.size > MOST_HELD) refuse(one);
    else if (coming.isAsking) {
      socket.on("end", ended);
      socket.on("data", more);
      socket.resume();
    }
    return one;
  };
  const join = (one: Held, link: Socket) => {
    const { socket, read } = one;
    counts.forwarded++;
    socket.pause();
    links.add(link);
    for (const end of [socket, link]) {
      joined.add(end);
      end.on("error", () => {});
    }
    link.once("close", () => {
      joined.delete(link);
      links.delete(link);
      socket.destroySoon();
    });
    socket.once("close", () => {
      joined.delete(socket);
      link.destroy();
    });
    for (const chunk of read) link.write(chunk);
    socket.pipe(link);
    link.pipe(socket);
  };
  const attempt = async (one: Held, to: Owner, address: string) => {
    one.isTried = true;
    dials++;
    const { socket, port, isSecure, certificate } = one;
    const link = await dial(address, {
      port,
      isSecure,
      certificate,
      address: socket.remoteAddress ?? "",
      peerPort: socket.remotePort ?? 0,
    }).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    dials--;
    one.isTried = false;
    if (typeof link === "string") {
      if (owner?.run === to.run) {
        failed = link;
        refused();
      }
      cancelPump ??= clock.after(AGAIN_MS, () => {
        cancelPump = null;
        pump();
      });
      return;
    }
    failed = null;
    if (owner?.run === to.run && letGo(one)) join(one, link);
    else link.destroy();
    pump();
  };
  const pump = () => {
    const to = owner;
    if (to?.address == null || own !== null) return;
    for (const one of held) {
      if (dials >= (failed === null ? MOST_DIALS : 1)) return;
      if (!one.isTried) void attempt(one, to, to.address);
    }
  };
  const give = (one: Held, taker: (port: string) => TakeSocket | null) => {
    const take = taker(one.port);
    if (take === null) return refuse(one);
    if (!letGo(one)) return;
    back(one);
    take(one.socket, one);
  };

  return {
    /** Datagrams: what was taken for good where it was sent on to, and what there was no room for. */
    counts,
    held: () => held.size,
    /** null where the machine that serves is reached, or there is none. */
    fault: () => (owner === null ? null : owner.address === null ? "it has no link" : failed),
    /** Calls `told` each time that the machine that serves doesn't take a connection. */
    onRefused(told: () => void) {
      refused = told;
    },
    send(coming: Coming) {
      const one = hold(coming);
      if (own === null) pump();
      else if (held.has(one)) give(one, own);
    },
    /** Whose the box is; null while nobody serves. */
    sees(now: Owner | null) {
      if (now?.run === owner?.run) return;
      owner = now;
      failed = null;
      // Whoever waits for a machine that is gone would wait for long.
      for (const socket of joined) socket.destroy();
      pump();
    },
    /** This machine serves: what is held, and what comes from now on, is its own ports'. */
    giveTo(taker: (port: string) => TakeSocket | null) {
      own = taker;
      for (const socket of joined) socket.destroy();
      for (const one of held) give(one, taker);
    },
    isClosed: () => isOver,
    /** Ends every connection, once what was asked by it is answered or a second is over. */
    close() {
      isOver = true;
      cancelPump?.();
      for (const link of links) link.end();
      clock.after(CLOSE_MS, () => {
        for (const socket of joined) socket.destroy();
      });
      for (const one of held) {
        letGo(one);
        one.socket.destroy();
      }
    },
  };
}
