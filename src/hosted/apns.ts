import type { OutgoingHttpHeaders } from "node:http2";
import type { Clock } from "../ground/kit/clock.ts";
import { othersFirst } from "../ground/kit/slices.ts";
import {
  apnsEnd,
  apnsVerdict,
  type PushResult,
  readApnsBody,
  readRetryAfter,
} from "./apns-answer.ts";
import { ApnsSession, type Deadline, type Exchange, type SessionEnd } from "./apns-session.ts";
import type { ProviderToken } from "./apns-token.ts";
import type { PushEnd } from "./push-counts.ts";

/** From the page's beginning to the last sending, with waiting, connecting and retries. */
const SEND_WITHIN_MS = 5_000;
/** From the sending to the answer. */
const ANSWER_MS = 5_000;
const MOST_WAITING = 20_000;
const MOST_SENDS = 5;
/** How often a push is sent that the peer may have processed: the collapse id hides a double. */
const MOST_LOST = 2;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;

/** A push's result, and its counter. */
interface Ended {
  result: PushResult;
  end: PushEnd;
}

const DELIVERED: Ended = { result: { kind: "delivered" }, end: "delivered" };
const LATE = retry("timeout", "no answer from APNs within 5 s");
const CLOSED = retry("closing", "shutting down");

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
  /** Monotonic time at which its page began; default now. It is sent within 5 s of that. */
  since?: number;
  /** Called before a push that waited, or is sent again, goes out. False withdraws it. */
  stillWanted?: () => Promise<boolean>;
}

interface ApnsOptions {
  /** "https://api.push.apple.com", its sandbox, or another. */
  endpoint: string;
  ca: string | undefined;
  topic: string;
  provider: ProviderToken;
  clock: Clock;
  /** Called once for each push. */
  counted?(end: PushEnd): void;
}

interface Job {
  push: ApnsPush;
  sends: number;
  lost: number;
  fresh: boolean;
  /** The provider token that it was last sent with. */
  jwt: string;
  deadline: Deadline;
  /** Monotonic time after which it isn't sent any more. */
  until: number;
  /** Moves its deadline to so many milliseconds from now. */
  within(ms: number): void;
  /** Ends it; later calls do nothing. */
  settle(ended: Ended): void;
}

/** A client of APNs' provider API over one kept HTTP/2 connection, opened when first needed. */
export class ApnsClient {
  readonly #options: ApnsOptions;
  readonly #waiting = new Set<Job>();
  #session: ApnsSession | null = null;
  #failures = 0;
  #notBefore = Number.NEGATIVE_INFINITY;
  #stopWaiting: (() => void) | null = null;
  #closed = false;

  constructor(options: ApnsOptions) {
    this.#options = options;
  }

  /** Never rejects. Resolves within 5 s of the sending. Pushes of one turn of the event loop are sent together. */
  push(push: ApnsPush): Promise<PushResult> {
    return new Promise((resolve) => {
      const { clock, counted } = this.#options;
      const over = ({ result, end }: Ended) => {
        counted?.(end);
        resolve(result);
      };
      if (this.#closed) return over(CLOSED);
      if (this.#waiting.size >= MOST_WAITING)
        return over(retry("connection", "too many pushes wait"));
      const until = (push.since ?? clock.mono()) + SEND_WITHIN_MS;
      if (clock.mono() >= until) return over(LATE);
      const job = newJob(push, { clock, until }, (ended) => {
        this.#waiting.delete(job);
        over(ended);
      });
      this.#waiting.add(job);
      this.#pump();
      // A push that waits for a stream may wait for seconds, in which its person may be unpaired.
      if (this.#waiting.has(job)) job.fresh = false;
    });
  }

  /** Lets running pushes finish; waiting ones return `retry`. */
  close(): void {
    this.#closed = true;
    this.#stopWaiting?.();
    this.#session?.close();
    this.#settleWaiting(CLOSED);
  }

  /** Starts waiting pushes while streams are free. */
  #pump(): void {
    if (this.#closed) this.#settleWaiting(CLOSED);
    for (const job of this.#waiting) {
      const on = this.#connection();
      if (!on?.reserve()) return;
      this.#waiting.delete(job);
      void this.#attempt(job, on);
    }
  }

  #connection(): ApnsSession | null {
    const { clock } = this.#options;
    const wait = this.#notBefore - clock.mono();
    if (this.#session === null && wait <= 0) this.#connect();
    else if (this.#session === null) {
      this.#stopWaiting ??= clock.after(wait, () => {
        this.#stopWaiting = null;
        this.#pump();
      });
    }
    return this.#session;
  }

  #connect(): void {
    const { endpoint, ca, clock } = this.#options;
    try {
      const session = new ApnsSession({
        endpoint,
        ca,
        clock,
        onRoom: () => this.#pump(),
        onClosing: (end) => {
          if (this.#session === session) this.#session = null;
          this.#left(end);
        },
      });
      this.#session = session;
    } catch {
      const why = "the APNs endpoint or its CA is unusable";
      this.#settleWaiting({ result: { kind: "misconfigured", why }, end: "unset" });
    }
  }

  /** Apple takes frequent reconnecting for an attack. */
  #left(end: SessionEnd): void {
    this.#failures = end.proven ? 0 : this.#failures + 1;
    if (!end.proven) this.#notBefore = this.#options.clock.mono() + backoff(this.#failures);
    if (!end.connected)
      this.#settleWaiting(retry("connection", `no connection to APNs: ${end.why}`));
    queueMicrotask(() => this.#pump());
  }

  async #attempt(job: Job, on: ApnsSession): Promise<void> {
    const jwt = this.#options.provider.current();
    const isKnown = typeof jwt === "string";
    if (isKnown) job.jwt = jwt;
    const refusal = isKnown && job.fresh ? null : await refusalTo(job, jwt);
    // Checks the clock, not only the timer: after the process stood still, input is read before timers fire.
    if (refusal !== null || job.deadline.passed || this.#isLate(job)) {
      on.release();
      return job.settle(refusal ?? LATE);
    }
    const { topic } = this.#options;
    job.sends++;
    job.within(ANSWER_MS);
    const headers = requestHeaders(job.push, { jwt: job.jwt, topic });
    const { payload } = job.push;
    this.#judge(job, await on.send({ headers, payload, deadline: job.deadline }));
    if (job.deadline.passed) on.probe();
  }

  #judge(job: Job, exchange: Exchange): void {
    if (exchange.kind === "answered") {
      void this.#judgeAnswer(job, exchange);
      return;
    }
    if (exchange.kind === "lost") job.lost++;
    const isTried = job.sends >= MOST_SENDS || job.lost >= MOST_LOST;
    if (isTried || job.deadline.passed || this.#isLate(job))
      job.settle(retry("connection", exchange.why));
    else this.#again(job);
  }

  async #judgeAnswer(job: Job, answer: Exchange & { kind: "answered" }): Promise<void> {
    const told = {
      status: answer.status,
      retryAfter: readRetryAfter(answer.retryAfter),
      ...readApnsBody(answer.body),
    };
    const verdict = apnsVerdict(told);
    const end = apnsEnd(told, verdict.kind);
    if (verdict.kind !== "expired_token") job.settle({ result: verdict, end });
    else if (job.sends < MOST_SENDS && (await this.#isRenewed(job.jwt))) this.#again(job);
    else job.settle(retry(end, "APNs calls the provider token expired: is the clock right?"));
  }

  async #isRenewed(jwt: string): Promise<boolean> {
    try {
      return await this.#options.provider.refused(jwt);
    } catch {
      return false;
    }
  }

  #again(job: Job): void {
    // Nobody waits for the answer any more.
    if (job.deadline.passed) return;
    if (this.#isLate(job)) {
      job.settle(LATE);
      return;
    }
    job.within(job.until - this.#options.clock.mono());
    job.fresh = false;
    this.#waiting.add(job);
    this.#pump();
  }

  #isLate(job: Job): boolean {
    return this.#options.clock.mono() >= job.until;
  }

  #settleWaiting(ended: Ended): void {
    for (const job of [...this.#waiting]) job.settle(ended);
  }
}

function newJob(
  push: ApnsPush,
  { clock, until }: { clock: Clock; until: number },
  done: (ended: Ended) => void,
): Job {
  const deadline: Deadline = { passed: false, delivered: false, stop: null };
  let isSettled = false;
  let cancel = () => {};
  const settle = (ended: Ended) => {
    if (isSettled) return;
    isSettled = true;
    cancel();
    done(ended);
  };
  const pass = () => {
    if (isSettled) return;
    deadline.passed = true;
    settle(deadline.delivered ? DELIVERED : LATE);
    deadline.stop?.();
  };
  const within = (ms: number) => {
    cancel();
    cancel = clock.after(ms, () => void inputRead().then(pass));
  };
  within(until - clock.mono());
  return { push, sends: 0, lost: 0, fresh: true, jwt: "", deadline, until, within, settle };
}

/**
 * After a process stood still its timers fire before its input is read. An answer that has arrived is read first; else
 * a phone that has rung would ring again.
 */
async function inputRead(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await othersFirst();
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

function retry(end: PushEnd, why: string): Ended {
  return { result: { kind: "retry", why, retryAfter: null }, end };
}

/** Waits for the provider token; returns why the push must not go out now, or null. */
async function refusalTo(job: Job, jwt: string | Promise<string>): Promise<Ended | null> {
  try {
    job.jwt = await jwt;
  } catch {
    return retry("away", "the provider token can't be read");
  }
  return refusalOf(job.push);
}

/** Why a push that waited must not go out now, or null. */
async function refusalOf(push: ApnsPush): Promise<Ended | null> {
  try {
    const wanted = (await push.stillWanted?.()) ?? true;
    return wanted ? null : { result: { kind: "withdrawn" }, end: "withdrawn" };
  } catch {
    return retry("away", "who is paged can't be read");
  }
}
