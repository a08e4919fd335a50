import pino from "pino";

/** A log line never contains a header, a body, a query string or a URL with a secret. */
export type Log = Pick<pino.Logger, "trace" | "debug" | "info" | "warn" | "error" | "fatal">;

/** Writes JSON lines to standard error. Callers leave secrets out; the redacted names are a second protection. */
export function createLog(level: string): Log {
  const redact = {
    paths: [
      "token",
      "secret",
      "password",
      "code",
      "authorization",
      "headers",
      "body",
      "*.token",
      "*.secret",
      "*.password",
    ],
    censor: "[redacted]",
  };
  const out = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING });
  // Where the log can't be written, for example to a full disk, the box must go on.
  out.on("error", () => {});
  return pino({ level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime }, out);
}

/** Bytes of lines that wait to be written. Lines above that are lost. */
const MOST_WAITING = 1024 * 1024;

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** The same log with the tenant's id on each line. */
export function tenantLog(log: Log, tenant: string): Log {
  const lines = LEVELS.map((level) => {
    const say = (fields: object | string, ...rest: unknown[]) =>
      typeof fields === "string"
        ? log[level]({ tenant }, fields, ...(rest as []))
        : log[level]({ ...fields, tenant }, ...(rest as []));
    return [level, say];
  });
  return Object.fromEntries(lines) as Log;
}

/** For commands and tests that need no log. */
export const silentLog: Log = pino({ level: "silent" });
