import pino from "pino";

/** What may be said: never a header, a body, a query string or a URL that holds a secret. */
export type Log = Pick<pino.Logger, "trace" | "debug" | "info" | "warn" | "error" | "fatal">;

/** JSON lines on standard error. The redacted names are a second net, not the first. */
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
  // A log that can't be written, as a file on a full disk, is no reason to page nobody.
  out.on("error", () => {});
  return pino({ level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime }, out);
}

/** Bytes of lines that wait until they can be written; what is more is lost. */
const MOST_WAITING = 1024 * 1024;

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** The same log, with the tenant that they concern on all its lines. */
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

/** Says nothing: for commands and tests that judge by results. */
export const silentLog: Log = pino({ level: "silent" });
