import { spawn } from "node:child_process";
import type { Clock } from "./clock.ts";

/** As long as the units' TimeoutStopSec. */
const EXTENDED_MS = 30_000;

/** Sends one message. Never throws: a lost message to the manager must not stop the pages. */
type Send = (message: string) => void;

/**
 * Reports the state of the process to the service manager (sd_notify(3)): one datagram a message, to the socket
 * that `NOTIFY_SOCKET` names. Without that variable every call does nothing. Reads NOTIFY_SOCKET, WATCHDOG_USEC
 * and WATCHDOG_PID.
 */
export async function createNotifier(env: NodeJS.ProcessEnv) {
  const socket = env["NOTIFY_SOCKET"] ?? "";
  const direct = socket === "" ? null : await datagramTo(socket);
  const send: Send = socket === "" ? () => {} : (direct ?? byCommand);
  const way: "none" | "socket" | "command" = socket === "" ? "none" : direct ? "socket" : "command";
  return {
    /** How messages are sent; `none` without a service manager. */
    way,
    /** The process has started and does its work. */
    ready: () => send("READY=1"),
    /** The process is stopping because it was asked to. */
    stopping: () => send("STOPPING=1"),
    /** Asks for more time to stop, again and again, until the function that it returns is called. */
    extend(clock: Clock): () => void {
      if (way === "none") return () => {};
      return every(clock, EXTENDED_MS / 3, () => send(`EXTEND_TIMEOUT_USEC=${EXTENDED_MS * 1000}`));
    },
    /** One line for `systemctl status`. */
    status: (line: string) => send(`STATUS=${line.replaceAll("\n", " ")}`),
    /**
     * Feeds the watchdog while `isWell` returns true, three times in each watchdog period. A process that is stuck, or
     * where `isWell` throws, doesn't feed it. Returns a function that ends it. Without a watchdog it does nothing.
     */
    watch(clock: Clock, isWell: () => boolean): () => void {
      const span = watchdogSpan(env);
      if (span === null || way === "none") return () => {};
      return every(clock, span / 3, () => {
        if (isWell()) send("WATCHDOG=1");
      });
    },
  };
}

/** The watchdog's period in milliseconds; null when it isn't meant for this process. */
export function watchdogSpan(env: NodeJS.ProcessEnv): number | null {
  const micros = Number(env["WATCHDOG_USEC"] ?? "");
  const pid = env["WATCHDOG_PID"];
  if (!(micros > 0) || (pid !== undefined && Number(pid) !== process.pid)) return null;
  return micros / 1000;
}

function every(clock: Clock, ms: number, action: () => void): () => void {
  const tick = () => {
    cancel = clock.after(ms, tick);
    try {
      action();
    } catch {
      // Not well: the watchdog isn't fed.
    }
  };
  let cancel = clock.after(0, tick);
  return () => cancel();
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;

/**
 * Node has no datagrams over Unix sockets, but it can call the C library. null where node:ffi (experimental) is missing
 * or the name is too long for an address.
 */
async function datagramTo(socket: string): Promise<Send | null> {
  const address = unixAddress(socket);
  if (address === null || process.platform !== "linux") return null;
  try {
    const ffi = await import("node:ffi");
    const { functions: libc } = ffi.dlopen(null, {
      socket: { arguments: ["int32", "int32", "int32"], return: "int32" },
      sendto: {
        arguments: ["int32", "buffer", "uint64", "int32", "buffer", "uint32"],
        return: "int64",
      },
    });
    const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return null;
    return (message) => {
      const bytes = Buffer.from(message);
      const length = BigInt(bytes.length);
      libc.sendto(descriptor, bytes, length, MSG_DONTWAIT, address, address.length);
    };
  } catch {
    return null;
  }
}

/** `struct sockaddr_un` for a path, or for an abstract name, which begins with @ (unix(7)). */
export function unixAddress(name: string): Buffer | null {
  const bytes = Buffer.from(name);
  if (bytes.length === 0 || bytes.length > 107) return null;
  const isAbstract = name.startsWith("@");
  if (!isAbstract && !name.startsWith("/")) return null;
  const address = Buffer.alloc(2 + bytes.length + (isAbstract ? 0 : 1));
  address.writeUInt16LE(AF_UNIX, 0);
  bytes.copy(address, 2);
  if (isAbstract) address[2] = 0;
  return address;
}

/** Slower, by the program systemd-notify. The unit must allow it: `NotifyAccess=all`. */
function byCommand(message: string): void {
  spawn("systemd-notify", [message], { stdio: "ignore" })
    .on("error", () => {})
    .unref();
}
