import { Socket } from "node:net";
import type { Client, ClientConfig, QueryResult } from "pg";
import type { Clock } from "../../../ground/kit/clock.ts";
import type { Dialled, DialRequest } from "../../../ground/kit/dial.ts";
import { type Generation, isLeftBehind, type SeenGeneration } from "../generation.ts";
import { DatabaseAway, messageOf } from "./database-faults.ts";
import { type DatabaseHost, type DatabaseTls, type DatabaseUrl, isHere } from "./database-url.ts";
import { mustTakeWrites } from "./takes-writes.ts";
import { storableText } from "./texts.ts";

/** The types of a statement's values. */
export type DatabaseValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly DatabaseValue[];

/** One connection. */
export type DatabaseLine = ReturnType<typeof lineOf>;

export interface LineOptions {
  url: DatabaseUrl;
  /** PEM of the only trusted authority; null: the usual ones. */
  ca: string | null;
  clock: Clock;
  /** The guarded egress. A socket of this machine doesn't go through it. */
  dial(request: DialRequest): Promise<Dialled>;
  /** Called once, where the connection isn't encrypted. */
  onPlain(why: string): void;
  /** The latest generation that was seen before; absent: none. */
  seen?: SeenGeneration;
}

/**
 * The server's time limit for a statement outside a transaction: what a node has given up must not keep locks and
 * connections. Nothing is cancelled from here: PostgreSQL would report a commit that waits for its standby as done.
 */
export const STATEMENT_MS = 5_000;
const LIFE_MS = 3_600_000;
const OLD_MS = 3_000_000;
const KEEP_ALIVE_MS = 15_000;
const INT8 = 20;
const NO_TLS = "The server does not support SSL connections";
/** PgBouncer's answer to a setting that it doesn't pass on. */
const NO_SETTING = /unsupported startup parameter/;

interface LineOpening {
  ms: number;
  /** `bare`: a pooler passes no settings on. */
  told: { plain: boolean; bare: boolean; ageless: boolean };
  seen: SeenGeneration;
}

/** Connects to one of the hosts. Rejects with DatabaseAway, and with the client's errors. */
export async function openLine(
  options: LineOptions,
  at: number,
  opening: LineOpening,
): Promise<DatabaseLine> {
  const host = options.url.hosts[at] as DatabaseHost;
  const { tls } = options.url;
  const wanted = host.isSocket ? "off" : tls;
  const plain = (why: string) => {
    if (!opening.told.plain) options.onPlain(why);
    opening.told.plain = true;
  };
  if (wanted === "off" && options.url.tls === "off" && !isHere(host)) plain("sslmode=disable");
  try {
    return await connectLine(options, at, { ...opening, tls: wanted });
  } catch (error) {
    if (NO_SETTING.test(messageOf(error)) && !opening.told.bare) {
      opening.told.bare = true;
      return openLine(options, at, opening);
    }
    if (wanted !== "offered" || messageOf(error) !== NO_TLS) throw error;
    if (!isHere(host)) plain("the server has no TLS");
    return connectLine(options, at, { ...opening, tls: "off" });
  }
}

async function connectLine(
  options: LineOptions,
  at: number,
  { ms, tls, told, seen }: LineOpening & { tls: DatabaseTls },
): Promise<DatabaseLine> {
  const { clock, url } = options;
  const host = url.hosts[at] as DatabaseHost;
  const openedAt = clock.mono();
  const socket = await socketTo(options, host, ms).catch((error) => {
    throw clock.mono() - openedAt < ms ? error : noAnswer(ms, error);
  });
  const state: LineState = { broken: false, late: false, generation: null };
  const drop = () => {
    state.broken = true;
    socket.destroy();
  };
  const cancel = clock.after(Math.max(0, ms - (clock.mono() - openedAt)), () => {
    state.late = true;
    drop();
  });
  try {
    const client = await newClient(options, host, { socket, tls, isBare: told.bare });
    client.on("error", drop);
    socket.once("close", drop);
    await client.connect();
    const line = lineOf(client, { at, clock, drop, state, openedAt, seen });
    state.generation = await mustTakeWrites(line, { ms, seen, told });
    return line;
  } catch (error) {
    drop();
    throw state.late ? noAnswer(ms, error) : error;
  } finally {
    cancel();
  }
}

interface LineState {
  broken: boolean;
  /** It was ended because no answer came in time. */
  late: boolean;
  generation: Generation | null;
}

const noAnswer = (ms: number, cause: unknown) =>
  new DatabaseAway(`no answer within ${Math.max(0, Math.round(ms / 100)) / 10} s`, {
    cause,
    isSilence: true,
  });

/** A connected socket within `ms`; for a local path, one that the client connects. */
async function socketTo({ dial }: LineOptions, { host, port, isSocket }: DatabaseHost, ms: number) {
  if (isSocket) return new Socket();
  const { socket } = await dial({ host, port, lifeMs: LIFE_MS, connectMs: Math.max(0, ms) });
  // The client calls connect() on the socket that it gets.
  const connect = () => {
    setImmediate(() => socket.emit("connect"));
    return socket;
  };
  return Object.assign(socket, { connect });
}

async function newClient(
  { url, ca }: LineOptions,
  { host, port }: DatabaseHost,
  { socket, tls, isBare }: { socket: Socket; tls: DatabaseTls; isBare: boolean },
): Promise<Client> {
  const { Client } = await import("pg");
  const trust = { rejectUnauthorized: tls !== "unverified", ...(ca === null ? {} : { ca }) };
  const config: ClientConfig = {
    host,
    port,
    user: url.user,
    database: url.database,
    application_name: "box",
    // A function: otherwise the client looks in the environment and in ~/.pgpass when there is no password.
    password: () => url.password ?? "",
    ssl: tls === "off" ? false : trust,
    stream: () => socket,
    ...(isBare ? {} : { statement_timeout: STATEMENT_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
  const client = new Client(config);
  // bigint arrives as text, and becomes a number or an error.
  client.setTypeParser(INT8, "text", safeInteger);
  return client;
}

function safeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`a bigint of the database: ${text}`);
  return number;
}

function lineOf(
  client: Client,
  made: {
    at: number;
    clock: Clock;
    drop(): void;
    state: LineState;
    openedAt: number;
    seen: SeenGeneration;
  },
) {
  const { clock, drop, state, seen } = made;
  return {
    /** The index of its host in the URL. */
    host: made.at,
    /** Monotonic time after which it isn't used any more: DNS, certificates and a pooler's servers change. */
    oldAt: made.openedAt + OLD_MS,
    /** Ends it at once. */
    drop,
    isBroken: () => state.broken || isLeftBehind(state.generation, seen.latest()),
    /** Ends an idle connection properly, so that the server logs no error. */
    hangUp() {
      if (!state.broken) client.end().catch(() => {});
      state.broken = true;
    },
    /** Runs one statement within `ms`; after a timeout the connection is broken. */
    async ask(text: string, values: readonly DatabaseValue[], ms: number): Promise<QueryResult> {
      const cancel = clock.after(Math.max(0, ms), () => {
        state.late = true;
        drop();
      });
      try {
        // Without a name: a pooler can run each transaction on another connection.
        return await (values.length === 0
          ? client.query(text)
          : client.query({ text, values: values.map(storable) }));
      } catch (error) {
        throw state.late ? noAnswer(ms, error) : error;
      } finally {
        cancel();
      }
    },
  };
}

function storable(value: DatabaseValue): unknown {
  if (typeof value === "string") return storableText(value);
  return Array.isArray(value) ? value.map(storable) : value;
}
