import type { Socket } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import type { ClientAddress } from "./address.ts";
import type { ServerLimits } from "./server-limits.ts";

/** What was closed while there was no room, since the last time this was told. */
interface ConnectionRefusals {
  /** Connections that never authenticated, closed to make room. */
  evicted: number;
  /** New connections that found no room: everyone there is known. */
  refused: number;
}

/** Every open connection of a server, and which of them have shown who they are. */
export interface Connections {
  /**
   * A connection begins. Where all places are taken, or all of its address (trusted proxies have no such share), the
   * oldest one there that never authenticated is closed for it, so that strangers can't keep known senders out; where
   * there is none, it is closed itself.
   */
  enter(socket: Socket): void;
  /** Something that came on this connection was authenticated: it is never closed to make room. */
  know(peer: Peer): void;
}

/** The far end of a connection, as its socket or TLS socket says it. */
export type Peer = Pick<Socket, "remoteAddress" | "remotePort">;

/** How often a crowd is told of, in milliseconds. */
const TELL_EVERY_MS = 60_000;

interface ConnectionsOptions {
  limits: Pick<ServerLimits, "connections" | "connectionsPerAddress">;
  address: ClientAddress;
  clock: Clock;
  /** Told when connections are closed for want of room, at most once a minute. */
  crowded?(crowd: ConnectionRefusals): void;
}

/** Open connections of one kind; `strangers` in the order in which they came. */
interface Room {
  places: number;
  taken: number;
  strangers: Map<string, Socket>;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { limits, address } = options;
  const all: Room = { places: limits.connections, taken: 0, strangers: new Map() };
  const shares = new Map<string, Room>();
  const roomsOf = new Map<string, Room[]>();
  const tell = refusalLogger(options);

  const shareOf = (peer: string): Room[] => {
    if (address.trusts(peer)) return [];
    const key = address(peer, undefined);
    const share = shares.get(key) ?? {
      places: limits.connectionsPerAddress,
      taken: 0,
      strangers: new Map(),
    };
    shares.set(key, share);
    return [share];
  };
  const leave = (id: string, from: Room[]) => {
    if (roomsOf.get(id) !== from) return;
    roomsOf.delete(id);
    for (const room of from) {
      room.taken -= 1;
      room.strangers.delete(id);
    }
  };
  const forgetEmpty = (peer: string) => {
    const key = address(peer, undefined);
    if (shares.get(key)?.taken === 0) shares.delete(key);
  };

  /** Whether there is a place in `room`, made where need be. */
  const makePlace = (room: Room): boolean => {
    if (room.taken < room.places) return true;
    const [oldest] = room.strangers;
    if (oldest === undefined) return false;
    const [id, socket] = oldest;
    leave(id, roomsOf.get(id) ?? []);
    socket.destroy();
    tell("evicted");
    return true;
  };

  return {
    enter(socket) {
      const peer = socket.remoteAddress ?? "";
      const rooms = [...shareOf(peer), all];
      if (!rooms.every(makePlace)) {
        socket.destroy();
        forgetEmpty(peer);
        tell("refused");
        return;
      }
      const id = idOf(socket);
      roomsOf.set(id, rooms);
      for (const room of rooms) {
        room.taken += 1;
        room.strangers.set(id, socket);
      }
      socket.once("close", () => {
        leave(id, rooms);
        forgetEmpty(peer);
      });
    },
    know(peer) {
      const id = idOf(peer);
      for (const room of roomsOf.get(id) ?? []) room.strangers.delete(id);
    },
  };
}

/** The same for a TLS connection and the plain one below it. */
function idOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The first is told at once, what follows within the minute with the first after it. */
function refusalLogger({
  clock,
  crowded,
}: ConnectionsOptions): (what: keyof ConnectionRefusals) => void {
  let crowd: ConnectionRefusals = { evicted: 0, refused: 0 };
  let toldAt = Number.NEGATIVE_INFINITY;
  return (what) => {
    crowd[what] += 1;
    if (clock.mono() - toldAt < TELL_EVERY_MS) return;
    toldAt = clock.mono();
    crowded?.(crowd);
    crowd = { evicted: 0, refused: 0 };
  };
}
