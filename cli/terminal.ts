import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";
import { isTimezone } from "../src/core/oncall/zone.ts";

/** A command's streams and environment. */
interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
}

const lent = new AsyncLocalStorage<Terminal>();

/** The process's own streams and environment, except inside `onTerminal`, which tests use. */
export function terminal(): Terminal {
  return lent.getStore() ?? process;
}

/** The terminal's time zone; UTC where `TZ` names an unknown one. */
export function localZone(): string {
  const zone = terminal().env["TZ"] || Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimezone(zone) ? zone : "UTC";
}

/** Runs `command` with other streams and another environment. */
export function onTerminal<T>(other: Terminal, command: () => T): T {
  return lent.run(other, command);
}
