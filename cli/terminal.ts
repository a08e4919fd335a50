import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable, Writable } from "node:stream";
import { isTimezone } from "../src/core/oncall/zone.ts";

/** What a command reads from and writes to. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
}

const lent = new AsyncLocalStorage<Terminal>();

/** The process's own streams and environment, unless the command runs on others: tests do that. */
export function terminal(): Terminal {
  return lent.getStore() ?? process;
}

/** The terminal's own zone; UTC where `TZ` names none that is known. */
export function localZone(): string {
  const zone = terminal().env["TZ"] || Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isTimezone(zone) ? zone : "UTC";
}

/** Runs `command` on streams and an environment that aren't the process's. */
export function onTerminal<T>(other: Terminal, command: () => T): T {
  return lent.run(other, command);
}
