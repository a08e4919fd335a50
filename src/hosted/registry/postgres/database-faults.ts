import { EgressFault } from "../../../ground/kit/egress-error.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { TryFault } from "../load.ts";

const RETRY_SECONDS = 2;

/** The database can't be reached now: the caller should try again later. */
export class DatabaseAway extends ServiceError {
  /** The reason for the log, without the database's address or the statement. */
  readonly why: string;
  /** The database refuses the login or the statement: somebody must change that, waiting doesn't help. */
  readonly isRefusal: boolean;
  /** Nothing answered in the time that was left: an earlier try's reason says more. */
  readonly isSilence: boolean;

  constructor(
    why: string,
    {
      cause,
      isRefusal = false,
      isSilence = false,
    }: { cause?: unknown; isRefusal?: boolean; isSilence?: boolean } = {},
  ) {
    super("not_ready", "The service's database doesn't answer: try again.", {
      retryAfter: RETRY_SECONDS,
    });
    this.name = "DatabaseAway";
    this.why = why;
    this.isRefusal = isRefusal;
    this.isSilence = isSilence;
    if (cause !== undefined) this.cause = cause;
  }
}

/** 08 connection, 57P shutdown or start, 53 disk, memory or connections, 25006 no longer primary, 25P0 timeout. */
const LOST = /^(08...|57P0[1-5]|53[0-4]00|25006|25P0[34])$/;
const REFUSED = /^(28...|3D000|0L...|42501)$/;
const BROKEN =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exp)/i;

/** `isBroken`: whether the connection is known to be lost. */
export function endOf(error: unknown, isBroken = false): TryFault {
  if (error instanceof DatabaseAway) return error.isRefusal ? "refused" : "lost";
  if (error instanceof EgressFault) return "lost";
  const code = codeOf(error);
  if (code === "40001" || code === "40P01") return "undone";
  if (code === "57014" || code === "55P03") return "late";
  if (LOST.test(code)) return "lost";
  if (REFUSED.test(code) || isUntrusted(error)) return "refused";
  if (isBroken || code.startsWith("E") || BROKEN.test(messageOf(error))) return "lost";
  return "failed";
}

/** PostgreSQL's five characters, or Node's name of a network error, or "". */
function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

export const isSilence = (error: unknown): boolean =>
  error instanceof DatabaseAway && error.isSilence;

/** One line for the log. Messages of PostgreSQL and Node contain no secret. */
export function messageOf(error: unknown): string {
  if (error instanceof DatabaseAway) return error.why;
  return error instanceof Error ? error.message : String(error);
}

function isUntrusted(error: unknown): boolean {
  return /CERT|SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL/.test(codeOf(error));
}

/** For `BatchAskerOptions`. */
export const batchFaults = {
  mayDiffer: (error: unknown): boolean => !(error instanceof DatabaseAway),
  full: (): Error => new DatabaseAway("too many wait for the database"),
} as const;
