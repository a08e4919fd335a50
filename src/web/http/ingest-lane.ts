import type { Socket } from "node:net";
import type { Clock } from "../../ground/kit/clock.ts";
import { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { httpDate } from "../../ground/kit/http-date.ts";
import { turns } from "../../ground/kit/turns.ts";
import type { ClientAddress } from "./address.ts";
import type { Connections } from "./connections.ts";
import type { Admitted, IngestHandler, IngestReply } from "./ingest.ts";
import { type LaneHead, readLaneHead } from "./lane-head.ts";
import type { ServerLimits } from "./server-limits.ts";
import { endConnection, wireError, wireText } from "./wire.ts";

/** Connections on which nothing but plain events came so far. */
export interface IngestLane {
  accept(socket: Socket): void;
  /** Closes those that wait for no answer. */
  closeIdle(): void;
  closeAll(): void;
}

interface LaneOptions {
  ingest: IngestHandler;
  address: ClientAddress;
  limits: ServerLimits;
  connections: Pick<Connections, "know">;
  clock: Clock;
  /** Node's own reader of connections. */
  handOver(socket: Socket): void;
}

/** Longer heads are Node's, and requests that are not whole with the second piece. */
const MOST_HEAD = 4096;
const MOST_BYTES = 65_536;
/** How long a second piece is waited for, in milliseconds; then Node's server goes on waiting. */
const SECOND_PIECE_MS = 1000;
/** A kept connection is closed so much later than its answers say, for a request that is on its way by then. */
const KEEP_ALIVE_GRACE_MS = 1000;
/** Heads that are remembered: a sender's differ in the length of the body only. */
const MOST_HEADS = 1000;
const MOST_REMEMBERED = 512;

/**
 * A short way for what makes up nearly all of a box's requests: `POST /v1/ingest` with a plain head that arrives
 * alone, in one piece or two (many clients send head and body apart). It is answered from the socket, for Node's
 * request, response and streams cost more than the event. With the first bytes that are anything else, a pipeline
 * or a third piece among them, the connection goes over to Node's server with these bytes unread, and stays there.
 */
export function createIngestLane(options: LaneOptions): IngestLane {
  const open = new Set<Connection>();
  const readHead = rememberHeads();
  const lane: Lane = { ...options, readHead, date: httpDate(options.clock), open, begunBytes: 0 };
  return {
    accept: (socket) => void open.add(new Connection(socket, lane)),
    closeIdle() {
      for (const connection of open) connection.closeIfIdle();
    },
    closeAll() {
      for (const connection of open) connection.socket.destroy();
    },
  };
}

interface Lane extends LaneOptions {
  readHead(text: string): LaneHead | null;
  date(): string;
  open: Set<Connection>;
  /** What all connections together hold of requests that have begun. */
  begunBytes: number;
}

class Connection {
  readonly socket: Socket;
  readonly #lane: Lane;
  /** Whose request it is where no proxy speaks for others. */
  readonly #address: string;
  #request: LaneHead | null = null;
  /** The first piece of a request whose second isn't there yet. */
  #begun: Buffer | null = null;
  #hasAsked = false;
  #isKnown = false;
  #hasEnded = false;

  constructor(socket: Socket, lane: Lane) {
    this.socket = socket;
    this.#lane = lane;
    this.#address = lane.address(socket.remoteAddress ?? "", undefined);
    socket.setTimeout(lane.limits.head);
    socket.on("data", this.#take);
    socket.on("end", this.#end);
    socket.on("timeout", this.#timeOut);
    socket.on("error", ignore);
    socket.on("close", this.#leave);
  }

  closeIfIdle(): void {
    if (this.#request === null && this.#begun === null) this.#close();
  }

  readonly #take = (chunk: Buffer): void => {
    // Too early: it waits until the one before is answered.
    if (this.#request !== null) {
      this.socket.pause();
      this.socket.unshift(chunk);
      return;
    }
    const begun = this.#begun;
    const bytes = begun === null ? chunk : Buffer.concat([begun, chunk]);
    if (begun !== null) this.#begin(null);
    const end = bytes.indexOf("\r\n\r\n");
    const head =
      end === -1 || end > MOST_HEAD ? null : this.#lane.readHead(bytes.toString("latin1", 0, end));
    const missing = head === null ? Number.NaN : end + 4 + head.length - bytes.length;
    if (head !== null && missing === 0 && !this.socket.writableNeedDrain) {
      if (!this.#hasAsked) this.#waitLonger();
      this.#hasAsked = true;
      this.#request = head;
      turns.during("events", () => this.#serve(head, bytes, end + 4));
    } else if (missing > 0 && begun === null && this.#mayBegin(bytes.length + missing)) {
      this.#begin(bytes);
    } else this.#handOver(bytes);
  };

  #mayBegin(size: number): boolean {
    const { begunBytes, limits } = this.#lane;
    return size <= MOST_BYTES && begunBytes + size <= limits.begunBytes;
  }

  #begin(piece: Buffer | null): void {
    this.#lane.begunBytes += (piece?.length ?? 0) - (this.#begun?.length ?? 0);
    this.#begun = piece;
    if (piece === null) this.#waitLonger();
    else this.socket.setTimeout(SECOND_PIECE_MS);
  }

  /** For a next request, and for the answer of one that is here: a slow disk may take its time. */
  #waitLonger(): void {
    this.socket.setTimeout(this.#lane.limits.keepAlive + KEEP_ALIVE_GRACE_MS);
  }

  #serve(head: LaneHead, bytes: Buffer, start: number): void {
    const { ingest, address, connections } = this.#lane;
    const { authorization, contentType, forwardedFor } = head;
    const body = bytes.toString("utf8", start);
    const take = (admitted: Admitted) => {
      if (!this.#isKnown) connections.know(this.socket);
      this.#isKnown = true;
      ingest.take(admitted, body, this.#answer);
    };
    const refuse = (error: unknown) => {
      if (!(error instanceof ElsewhereError) || this.#hasEnded)
        return this.#answer(ingest.refuse(error));
      // Node's reader sends it on.
      this.#request = null;
      if (!this.socket.destroyed) this.#handOver(bytes);
    };
    let admitted: Admitted | Promise<Admitted>;
    try {
      admitted = ingest.admit({
        authorization,
        contentType,
        contentEncoding: undefined,
        address:
          forwardedFor === undefined
            ? this.#address
            : address(this.socket.remoteAddress ?? "", forwardedFor),
      });
    } catch (error) {
      refuse(error);
      return;
    }
    if (admitted instanceof Promise) admitted.then(take, refuse);
    else take(admitted);
  }

  readonly #answer = (reply: IngestReply): void => {
    const { socket } = this;
    const isLast = this.#hasEnded || this.#request?.closes === true;
    this.#request = null;
    if (socket.destroyed) return;
    socket.write(this.#text(reply, isLast));
    if (isLast) this.#close();
    else if (socket.isPaused()) socket.resume();
  };

  /** What comes behind the last request isn't looked at (RFC 9112 §9.6). */
  #close(): void {
    this.socket.off("data", this.#take);
    this.socket.destroySoon();
  }

  #text(reply: IngestReply, isLast: boolean): string {
    const seconds = Math.floor(this.#lane.limits.keepAlive / 1000);
    const connection = isLast ? "close" : `keep-alive\r\nKeep-Alive: timeout=${seconds}`;
    return wireText(reply, `Date: ${this.#lane.date()}\r\nConnection: ${connection}\r\n`);
  }

  #handOver(unread: Buffer): void {
    const { socket } = this;
    this.#leave();
    socket.setTimeout(0);
    socket.pause();
    socket.off("data", this.#take);
    socket.off("end", this.#end);
    socket.off("timeout", this.#timeOut);
    socket.off("error", ignore);
    socket.off("close", this.#leave);
    socket.unshift(unread);
    this.#lane.handOver(socket);
    socket.resume();
  }

  readonly #end = (): void => {
    this.#hasEnded = true;
    if (this.#begun !== null) this.#refuse({});
    else if (this.#request === null) this.socket.end();
  };

  /** Where the process itself stood still, the bytes are there and only unread: one more look before anything is said. */
  readonly #timeOut = (): void => {
    const { socket } = this;
    const { bytesRead } = socket;
    setImmediate(() => {
      if (!this.#lane.open.has(this)) return;
      if (socket.bytesRead === bytesRead) this.#giveUp();
      else socket.setTimeout(socket.timeout ?? this.#lane.limits.head);
    });
  };

  #giveUp(): void {
    if (this.#begun !== null) this.#handOver(this.#begun);
    else if (this.#hasAsked) this.socket.destroy();
    else this.#refuse({ code: "ERR_HTTP_REQUEST_TIMEOUT" });
  }

  #refuse(fault: { code?: string }): void {
    endConnection(this.socket, () => this.#lane.ingest.refuse(wireError(fault)));
  }

  readonly #leave = (): void => {
    this.#lane.open.delete(this);
    if (this.#begun !== null) this.#begin(null);
  };
}

/** The socket closes itself after an error; whose fault it was is nothing to log. */
function ignore(): void {}

function rememberHeads(): (text: string) => LaneHead | null {
  const known = new ForgetfulMap<string, LaneHead>(MOST_HEADS);
  return (text) => {
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const head = readLaneHead(text);
    if (head !== null && text.length <= MOST_REMEMBERED) known.set(text, head);
    return head;
  };
}
