import { EVENTS, type Source } from "../../core/projects/sources.ts";
import { type errorStatus, ServiceError } from "../../ground/kit/errors.ts";
import { excessOf, parseJson } from "../../ground/kit/json.ts";
import type { Log } from "../../ground/kit/log.ts";
import { filledLines } from "../../ground/kit/text.ts";
import { mayTell } from "../../ground/store/durable.ts";
import { levelInText } from "../../in/adapters/line.ts";
import type { IngestAnswer } from "../../in/ingest/arrival.ts";
import { checkEvent, type IngestEvent } from "../../in/ingest/event.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { errorBody, errorHeaders, internalError } from "./answer.ts";
import { createTokenReader, type IngestToken, unauthorized } from "./bearer.ts";
import { type Limits, RateLimited } from "./limits.ts";
import { isLoud } from "./refusals.ts";
import type { Serving } from "./serve-route.ts";

/** Bytes: so that everything within the limits of an event fits, escaped too (contract §2). */
export const INGEST_LIMIT = 2 * 1024 * 1024;
/** Bytes and lines of one NDJSON request (contract §4). */
export const NDJSON_LIMIT = 4 * 1024 * 1024;
const MOST_LINES = 1000;
/** Values of one event: its limits leave room for a few hundred. */
const MOST_VALUES = 2000;
/** Of all lines of a request; how deep each is, is counted with it. */
const MOST_OF_MANY = { deepest: Number.POSITIVE_INFINITY, values: 300_000 };

/** What an ingest request's head says, before its body is read. */
interface IngestHead {
  authorization: string | undefined;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  address: string;
}

export interface IngestReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** An authenticated ingest request whose body may now be read. */
export interface Admitted {
  tenant: Tenant;
  source: Source;
  ndjson: boolean;
  bodyLimit: number;
}

export type IngestHandler = ReturnType<typeof createIngestHandler>;

/** `POST /v1/ingest` (contract §15; contract §4), apart from how its bytes arrive. */
export function createIngestHandler(serving: Serving & { log: Log; requestId(): string }) {
  const { limits } = serving;
  const readToken = createTokenReader();

  const refuse = (
    error: unknown,
    headers: Record<string, string> = {},
    from: From | null = null,
  ): IngestReply => {
    if (!(error instanceof ServiceError))
      (from?.admitted.tenant.log ?? serving.log).error(
        { err: error, route: "/v1/ingest" },
        "request failed",
      );
    const known = error instanceof ServiceError ? error : internalError;
    // Who opens nothing was counted as that.
    if (!(known instanceof Stranger)) trace(known, from);
    const requestId = serving.requestId();
    return {
      status: known.status,
      headers: {
        ...replyHeaders(requestId),
        ...headers,
        ...(known instanceof RateLimited || known instanceof Stranger ? known.headers : {}),
        ...errorHeaders(known),
      },
      body: JSON.stringify(errorBody(known, requestId)),
    };
  };

  const trace = (error: ServiceError, from: From | null, n = from?.events ?? 1) => {
    const { code, message } = error;
    if (from === null) {
      // The server answers through this door what never got as far as a route.
      const noun = OWN_HEAD.has(code) ? "ingest" : "wire";
      return serving.refusals.request({ class: noun, code }, { loud: isLoud(error.status), n });
    }
    const what = { class: "ingest", code };
    const { tenant, source } = from.admitted;
    tenant.ingest.refused.note(source, { code, message, body: from.body }, n);
    const who = { tenant: tenant.id, project: source.projectId, source: source.name };
    serving.refusals.request({ ...what, ...who }, { loud: true, n });
  };

  const accept = (status: number, headers: Record<string, string>, body: string): IngestReply => ({
    status,
    headers: { ...replyHeaders(serving.requestId()), ...headers },
    body,
  });

  const takeOne = (admitted: Admitted, body: string, done: (reply: IngestReply) => void) => {
    const headers = limits.ingest.spend(admitted.tenant.id);
    try {
      const event = readEvent(admitted.source, body);
      admitted.tenant.ingest.submit(admitted.source, [event], (error, answers) => {
        if (answers === null) done(refuse(error, headers, { admitted, body, events: 1 }));
        else done(accept(202, headers, answerText(answers[0] as IngestAnswer)));
      });
    } catch (error) {
      done(refuse(error, headers, { admitted, body, events: 1 }));
    }
  };

  return {
    /** Checks everything but the body. Throws ServiceError. */
    admit: (head: IngestHead) => admit(head, serving, readToken(head.authorization)),
    /** Any error as this route answers it; where its sender is known, with what is left of their rate. */
    refuse: (error: unknown, admitted?: Admitted) =>
      admitted === undefined
        ? refuse(error)
        : refuse(error, limits.ingest.spend(admitted.tenant.id, 0), {
            admitted,
            body: "",
            events: 1,
          }),
    /** Takes the body in; `done` is called once, after the commit or with the refusal. Never throws. */
    take(admitted: Admitted, sent: string, done: (reply: IngestReply) => void) {
      // A byte order mark is no part of a text (RFC 8259 §8.1): editors and PowerShell put one there.
      const body = sent.charCodeAt(0) === 0xfeff ? sent.slice(1) : sent;
      try {
        if (admitted.ndjson) takeMany(admitted, body, { limits, done, accept, refuse, trace });
        else takeOne(admitted, body, done);
      } catch (error) {
        done(refuse(error, {}, { admitted, body, events: 1 }));
      }
    },
  };
}

/** What a head is refused with before it is known whose it is. */
const OWN_HEAD: ReadonlySet<string> = new Set([
  "unsupported_encoding",
  "rate_limited",
  "overloaded",
]);

/** Whose events were refused, and in what they came. */
interface From {
  admitted: Admitted;
  body: string;
  events: number;
}

/** A token that opens nothing, with what is left of its address's budget. */
class Stranger extends ServiceError {
  readonly headers: Record<string, string>;

  constructor(headers: Record<string, string>) {
    const { code, message } = unauthorized();
    super(code, message);
    this.headers = headers;
  }
}

function replyHeaders(requestId: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
  };
}

const NDJSON = /^application\/x-ndjson\b/i;

function admit(
  head: IngestHead,
  serving: Serving,
  token: IngestToken | null,
): Admitted | Promise<Admitted> {
  const encoding = head.contentEncoding?.toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw new ServiceError(
      "unsupported_encoding",
      "Send the body as it is, without a Content-Encoding.",
    );
  const found = token === null ? null : serving.findTenant(token.tenant, token.text);
  const ndjson = head.contentType !== undefined && NDJSON.test(head.contentType);
  const finish = (tenant: Tenant | null): Admitted | Promise<Admitted> => {
    const source =
      tenant === null || token === null ? null : tenant.ingest.authenticate(token.text);
    if (tenant === null || source === null || source.kind !== EVENTS) {
      serving.refusals.auth("ingest", head.authorization);
      const stranger = new Stranger(serving.limits.failures.spend(head.address));
      // That a token opens nothing is read of the store, too.
      const waiting = tenant && mayTell(tenant.store);
      if (waiting === null) throw stranger;
      return waiting.then(() => Promise.reject(stranger));
    }
    return { tenant, source, ndjson, bodyLimit: ndjson ? NDJSON_LIMIT : INGEST_LIMIT };
  };
  return found instanceof Promise ? found.then(finish) : finish(found);
}

interface Many {
  limits: Limits;
  done(reply: IngestReply): void;
  accept(status: number, headers: Record<string, string>, body: string): IngestReply;
  refuse(error: unknown, headers: Record<string, string>, from: From): IngestReply;
  /** Counts a line that was refused while others were taken. */
  trace(error: ServiceError, from: From): void;
}

/** One event a line; the good ones are committed together, a bad one never fails them. */
function takeMany(
  admitted: Admitted,
  body: string,
  { limits, done, accept, refuse, trace }: Many,
): void {
  const { tenant, source } = admitted;
  const lines = filledLines(body, MOST_LINES);
  if (lines.length > MOST_LINES)
    throw new ServiceError(
      "body_too_large",
      `More than ${MOST_LINES} lines: send them in several requests.`,
    );
  if (excessOf(body, MOST_OF_MANY) !== null)
    throw new ServiceError(
      "body_too_large",
      `More than ${MOST_OF_MANY.values} values: send the lines in several requests.`,
    );
  const headers = limits.ingest.spend(tenant.id, Math.max(1, lines.length));
  const results = lines.map((line) => {
    const result = readLine(source, line);
    if (result instanceof ServiceError) trace(result, { admitted, body: line, events: 1 });
    return result;
  });
  const events = results.filter(
    (result): result is IngestEvent => !(result instanceof ServiceError),
  );
  const finish = (answers: readonly IngestAnswer[]) => {
    let next = 0;
    const shown = results.map((result) =>
      result instanceof ServiceError ? errorBody(result, "") : (answers[next++] as IngestAnswer),
    );
    done(
      accept(
        202,
        headers,
        JSON.stringify({
          accepted: events.length,
          rejected: lines.length - events.length,
          results: shown,
        }),
      ),
    );
  };
  if (events.length === 0) {
    finish([]);
    return;
  }
  const from = { admitted, body, events: events.length };
  try {
    tenant.ingest.submit(source, events, (error, answers) =>
      answers === null ? done(refuse(error, headers, from)) : finish(answers),
    );
  } catch (error) {
    done(refuse(error, headers, from));
  }
}

/** An event without a level has that of the word at the beginning of its message, where the source is set so. */
function readEvent({ options }: Source, text: string): IngestEvent {
  const value = parseJson(text, MOST_VALUES);
  const event = checkEvent(value, text);
  const isLevelSent = (value as { level?: unknown }).level !== undefined;
  if (options.level_from_text !== true || isLevelSent) return event;
  return { ...event, level: levelInText(event.message) ?? event.level };
}

function readLine(source: Source, line: string): IngestEvent | ServiceError {
  try {
    return readEvent(source, line);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function answerText(answer: IngestAnswer): string {
  const resolved = answer.resolved === undefined ? "" : `,"resolved":${answer.resolved}`;
  return `{"alerted":${answer.alerted},"template_id":"${answer.template_id}"${resolved}}`;
}

/** Codes this route can answer with, for the OpenAPI document. */
export const ingestErrors = [
  "invalid_request",
  "invalid_json",
  "unauthorized",
  "body_too_large",
  "unsupported_encoding",
  "rate_limited",
  "overloaded",
  "storage_full",
] as const satisfies readonly (keyof typeof errorStatus)[];
