import { closeSync, constants, lstatSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Log } from "../../ground/kit/log.ts";
import { StoreFault } from "../../ground/store/faults.ts";

/**
 * Commands on a data directory reach the process that serves it by a socket in that directory, so that one process alone
 * writes the store. A request is one line of JSON, its answer another. Only the user who serves, and root, can connect:
 * the directory and the socket are closed to all others.
 */
const NAME = "serve.sock";
/** What an address of a socket may have, in bytes: 108 on Linux and 104 elsewhere, with the zero at its end. */
const MOST_ADDRESS = 100;
const MOST_REQUEST = 65_536;
const MOST_AT_ONCE = 16;
/** A request is a line that is there at once. */
const SILENT_MS = 10_000;
/** Long enough for a command that encrypts everything again. */
const PATIENCE_MS = 120_000;

/** Whoever serves answers one request after the other. */
export interface Served {
  /** Takes a request by a connection from another machine of the box. It is paused. */
  take(socket: Socket): void;
  /** Lets the request under way end. */
  close(): Promise<void>;
}

/**
 * Takes requests for the directory, which this process has locked. `answer` gets a line and never rejects. `sendOn`: has
 * them answered by another machine. null where no socket can be made; commands then open the store themselves.
 */
export function serveDesk(
  directory: string,
  log: Log,
  answer: (line: string) => Promise<string>,
  sendOn: ((socket: Socket) => void) | null = null,
): Served | null {
  const open = new Set<Socket>();
  const asking = new Set<Promise<unknown>>();
  let latest: Promise<unknown> = Promise.resolve();
  const take = (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    readLine(socket, (line) => {
      const mine = latest.then(() => answer(line)).then((said) => socket.end(`${said}\n`));
      latest = mine;
      asking.add(mine);
      void mine.finally(() => asking.delete(mine));
    });
    socket.resume();
  };
  const server = createServer({ pauseOnConnect: sendOn !== null }, sendOn ?? take);
  server.maxConnections = MOST_AT_ONCE;
  const failed = (error: unknown) =>
    log.warn({ err: error }, `${NAME} can't be used: commands here open the store themselves`);
  server.on("error", failed);
  const place = addressIn(directory);
  try {
    // One of a process that was killed.
    rmSync(place.path, { force: true });
    closedToOthers(() => server.listen(place.path));
  } catch (error) {
    failed(error);
    place.close();
    return null;
  }
  return {
    take,
    async close() {
      const ended = new Promise((resolve) => server.close(resolve));
      await Promise.all(asking);
      for (const socket of open) socket.destroySoon();
      // What is sent on is the sender's, and may be held for longer than this process can wait.
      if (sendOn === null) await ended;
      place.close();
    },
  };
}

/** A file that `make` makes has no right for anybody but its owner, from its first moment on. */
function closedToOthers(make: () => void): void {
  const before = process.umask(0o177);
  try {
    make();
  } finally {
    process.umask(before);
  }
}

/**
 * Asks whoever serves the directory. null where nobody takes the request; then nothing was done. Throws StoreFault where
 * it was taken and no answer came.
 */
export async function askServing(directory: string, line: string): Promise<string | null> {
  // A link could lead anywhere.
  if (!isSocket(join(directory, NAME))) return null;
  const place = addressIn(directory);
  try {
    const socket = await connected(place.path);
    return socket === null ? null : await answerTo(socket, line);
  } finally {
    place.close();
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    // What is wrong with the directory is said by whoever opens its store.
    return false;
  }
}

function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(null));
  });
}

function answerTo(socket: Socket, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const lost = (why: string) =>
      reject(
        new StoreFault(
          "unavailable",
          `The box that serves this directory ${why}. Whether it did what was asked isn't known: look, and try again.`,
        ),
      );
    socket.removeAllListeners("error").on("error", () => {});
    socket.on("close", () => lost("ended before it answered"));
    readLine(socket, (said) => {
      resolve(said);
      socket.destroy();
    });
    socket.setTimeout(PATIENCE_MS, () => {
      lost("doesn't answer");
      socket.destroy();
    });
    socket.write(`${line}\n`);
  });
}

/** Calls `take` with the first line. Whoever says too much, or nothing for a while, is cut off. */
function readLine(socket: Socket, take: (line: string) => void): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("error", () => {});
  socket.setTimeout(SILENT_MS, () => socket.destroy());
  const more = (chunk: string) => {
    text += chunk;
    const end = text.indexOf("\n");
    if (end < 0 && text.length > MOST_REQUEST) socket.destroy();
    if (end < 0) return;
    socket.off("data", more);
    socket.setTimeout(0);
    take(text.slice(0, end));
  };
  socket.on("data", more);
}

/** The address of the socket. One that is too long goes by the open directory, which Linux alone can do. */
function addressIn(directory: string): { path: string; close(): void } {
  const path = join(directory, NAME);
  if (Buffer.byteLength(path) <= MOST_ADDRESS) return { path, close() {} };
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${fd}/${NAME}`, close: () => closeSync(fd) };
}
