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
  return pino(
    { level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Says nothing: for commands and tests that judge by results. */
export const silentLog: Log = pino({ level: "silent" });
