import type { OutgoingHttpHeaders } from "node:http2";
import type { Clock } from "../kit/clock.ts";
import { apnsVerdict, type PushResult, readApnsBody, readRetryAfter } from "./apns-answer.ts";
import type { SessionEnd } from "./apns-session.ts";
import { type ApnsSession, type Deadline, type Exchange, openSession } from "./apns-session.ts";
import type { ProviderToken } from "./apns-token.ts";

/** For one push in all: waiting, connecting and sending again included. */
const DEADLINE_MS = 5_000;
const MOST_WAITING = 20_000;
const MOST_SENDS = 5;
/** A push that the peer may have taken is sent once more: the collapse id hides the double. */
const MOST_LOST = 2;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;

const LATE = "no answer from APNs within 5 s";

/** One notification for one device. */
export interface ApnsPush {
  /** 64 hex characters. */
  token: string;
  /** JSON, at most 4,096 bytes. */
  payload: string;
  /** At most 64 bytes. */
  collapseId: string;
  /** Unix seconds after which APNs drops it. */
  expiresAt: number;
  /** Asked before a push that had to wait, or is sent again, goes out: false withdraws it. */
  stillWanted?: () => Promise<boolean>;
}

export interface ApnsClient {
  /** Never rejects. Pushes asked for together travel together. */
  push(push: ApnsPush): Promise<PushResult>;
  /** Lets what is under way finish; what waits comes back as `retry`. */
  close(): void;
}

export interface ApnsOptions {
  /** "https://api.push.apple.com", its sandbox twin, or another. */
  endpoint: string;
  ca: string | undefined;
  topic: string;
  provider: ProviderToken;
  clock: Clock;
}

interface Job {
  push: ApnsPush;
  sends: number;
  lost: number;
  fresh: boolean;
  /** The provider token it was last sent with. */
  jwt: string;
  deadline: Deadline;
  settle(result: PushResult): void;
}

/** A client of APNs' provider API over one kept HTTP/2 connection, made when first needed. */
export function openApns(options: ApnsOptions): ApnsClient {
  const { clock } = options;
  const waiting = new Set<Job>();
  let session: ApnsSession | null = null;
  let failures = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  let stopWaiting: (() => void) | null = null;
  let closed = false;

  const onClosing = (mine: () => ApnsSession | null, end: SessionEnd) => {
    if (session === mine()) session = null;
    // Connecting again and again at once is what Apple takes for an attack.
    failures = end.proven ? 0 : failures + 1;
    if (!end.proven) notBefore = clock.mono() + backoff(failures);
    if (!end.connected) settleAll(waiting, retry(`no connection to APNs: ${end.why}`));
    queueMicrotask(pump);
  };

  const connectNow = () => {
    let mine: ApnsSession | null = null;
    try {
      mine = openSession({
        endpoint: options.endpoint,
        ca: options.ca,
        clock,
        onRoom: () => pump(),
        onClosing: (end) => onClosing(() => mine, end),
      });
      session = mine;
    } catch {
      settleAll(waiting, { kind: "misconfigured", why: "the APNs endpoint or its CA is unusable" });
    }
  };

  const connection = (): ApnsSession | null => {
    if (session !== null) return session;
    const wait = notBefore - clock.mono();
    if (wait <= 0) connectNow();
    else
      stopWaiting ??= clock.after(wait, () => {
        stopWaiting = null;
        pump();
      });
    return session;
  };

  const pump = () => {
    if (closed) return settleAll(waiting, retry("shutting down"));
    for (const job of waiting) {
      const on = connection();
      if (!on?.reserve()) return;
      waiting.delete(job);
      void attempt(job, on);
    }
  };

  const attempt = async (job: Job, on: ApnsSession) => {
    const refusal = job.fresh ? null : await refusalOf(job.push);
    if (refusal !== null || job.deadline.passed) {
      on.release();
      return job.settle(refusal ?? retry(LATE));
    }
    job.sends++;
    job.jwt = options.provider.current();
    const headers = requestHeaders(job.push, { jwt: job.jwt, topic: options.topic });
    const { payload } = job.push;
    judge(job, await on.send({ headers, payload, deadline: job.deadline }));
    if (job.deadline.passed) on.probe();
  };

  const again = (job: Job) => {
    job.fresh = false;
    waiting.add(job);
    pump();
  };

  const judge = (job: Job, exchange: Exchange) => {
    if (exchange.kind === "answered") {
      const verdict = apnsVerdict({
        status: exchange.status,
        retryAfter: readRetryAfter(exchange.retryAfter),
        ...readApnsBody(exchange.body),
      });
      if (verdict.kind !== "expired_token") return job.settle(verdict);
      if (options.provider.refused(job.jwt) && job.sends < MOST_SENDS) return again(job);
      return job.settle(retry("APNs calls the provider token expired: is the clock right?"));
    }
    if (exchange.kind === "lost") job.lost++;
    const given = job.deadline.passed || job.sends >= MOST_SENDS || job.lost >= MOST_LOST;
    return given ? job.settle(retry(exchange.why)) : again(job);
  };

  return {
    push(push) {
      return new Promise((resolve) => {
        if (closed || waiting.size >= MOST_WAITING) {
          return resolve(retry(closed ? "shutting down" : "too many pushes wait"));
        }
        const job = newJob(push, clock, (result) => {
          waiting.delete(job);
          resolve(result);
        });
        waiting.add(job);
        pump();
        // One that found no room may wait for seconds, in which its person may be unpaired.
        if (waiting.has(job)) job.fresh = false;
      });
    },
    close() {
      closed = true;
      stopWaiting?.();
      session?.close();
      settleAll(waiting, retry("shutting down"));
    },
  };
}

function newJob(push: ApnsPush, clock: Clock, done: (result: PushResult) => void): Job {
  const deadline: Deadline = { passed: false, stop: null };
  const settle = (result: PushResult) => {
    cancel();
    done(result);
  };
  const cancel = clock.after(DEADLINE_MS, () => {
    deadline.passed = true;
    settle(retry(LATE));
    deadline.stop?.();
  });
  return { push, sends: 0, lost: 0, fresh: true, jwt: "", deadline, settle };
}

function requestHeaders(
  push: ApnsPush,
  with_: { jwt: string; topic: string },
): OutgoingHttpHeaders {
  return {
    ":method": "POST",
    ":path": `/3/device/${push.token}`,
    authorization: `bearer ${with_.jwt}`,
    "apns-topic": with_.topic,
    "apns-push-type": "alert",
    "apns-priority": "10",
    "apns-expiration": String(push.expiresAt),
    "apns-collapse-id": push.collapseId,
  };
}

function backoff(failures: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
}

function settleAll(jobs: Iterable<Job>, result: PushResult): void {
  for (const job of [...jobs]) job.settle(result);
}

function retry(why: string): PushResult {
  return { kind: "retry", why, retryAfter: null };
}

/** Why a push that waited must not go out now; null when it may. */
async function refusalOf(push: ApnsPush): Promise<PushResult | null> {
  try {
    const wanted = (await push.stillWanted?.()) ?? true;
    return wanted ? null : { kind: "withdrawn" };
  } catch {
    return retry("who is paged can't be read");
  }
}
