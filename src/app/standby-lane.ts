import type { Socket } from "node:net";
import type { Clock } from "../ground/kit/clock.ts";
import type { IngestLane } from "../web/http/ingest-lane.ts";

const MOST_LINE = 8_192;

interface StandbyLaneOptions {
  clock: Clock;
  /** How long a connection may say nothing, in milliseconds. */
  headMs: number;
  /** Whether this machine itself answers what is asked at this path. */
  isOwn(path: string): boolean;
  /** Sends a connection on; `late`: it is answered here after all. */
  send(socket: Socket, late: () => void): void;
}

/**
 * Reads the first line of each connection to a machine that stands by. One that asks for something of this machine's own
 * goes to Node's reader, every other one to the machine that serves, with its bytes unread.
 */
export function createStandbyLane(
  { clock, headMs, isOwn, send }: StandbyLaneOptions,
  handOver: (socket: Socket) => void,
): IngestLane {
  const open = new Map<Socket, Buffer | null>();
  const sort = (socket: Socket) => {
    let begun: Buffer | null = null;
    const leave = () => {
      cancel();
      open.delete(socket);
      socket.off("data", more);
      socket.off("end", gone);
      socket.off("close", leave);
      socket.off("error", ignore);
    };
    const gone = () => socket.destroy();
    const cancel = clock.after(headMs, gone);
    const own = () => {
      handOver(socket);
      socket.resume();
    };
    const more = (chunk: Buffer) => {
      const bytes: Buffer = begun === null ? chunk : Buffer.concat([begun, chunk]);
      begun = bytes;
      open.set(socket, bytes);
      const end = bytes.indexOf("\n");
      if (end < 0 && bytes.length < MOST_LINE) return;
      leave();
      socket.pause();
      socket.unshift(bytes);
      const [, path = ""] = /^[A-Z]+ ([^\s?]+)/.exec(bytes.toString("latin1", 0, end)) ?? [];
      if (isOwn(path)) own();
      else send(socket, own);
    };
    open.set(socket, null);
    socket.on("data", more);
    socket.on("end", gone);
    socket.on("close", leave);
    socket.on("error", ignore);
  };
  return {
    accept: sort,
    closeIdle() {
      for (const [socket, begun] of open) if (begun === null) socket.destroy();
    },
    closeAll() {
      for (const socket of open.keys()) socket.destroy();
    },
  };
}

/** The socket closes itself after an error. */
function ignore(): void {}
