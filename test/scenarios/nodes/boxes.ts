import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "../../support/hosted-role.ts";

/** Between two pages of one box, milliseconds. */
const PAGE_EVERY = 120;
const BEAT_EVERY = 1_000;
const DRAIN_MS = 120_000;
/** For how long a box waits for an answer. */
const PATIENCE_MS = 15_000;
/** What a box says again after: nobody's answer, or one of these. */
const AGAIN = [409, 429, 500, 502, 503];

/** A box as the service sees it: what it has to say is said until it is answered. */
export interface Box {
  keyId: string;
  secret: string;
  device: string;
}

/** What came of saying it once; status null: no answer. */
export interface Try {
  at: number;
  ms: number;
  status: number | null;
  retryAfter: string | null;
}

export interface SentPage {
  alert: string;
  device: string;
  firstAt: number;
  answeredAt: number | null;
  devices: number;
  tries: Try[];
}

/** Boxes that page and beat until they are told to stop. */
export class Boxes {
  readonly pages: SentPage[] = [];
  readonly beats: Try[] = [];
  readonly #url: () => string;
  readonly #random: () => number;
  readonly #running: Promise<void>[] = [];
  isOver = false;

  /** `url`: of the load balancer. */
  constructor(url: () => string, random: () => number) {
    this.#url = url;
    this.#random = random;
  }

  start(box: Box): void {
    this.#running.push(this.#page(box), this.#beat(box));
  }

  /** Every page was answered; throws what a box met. */
  async drain(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.#running);
  }

  /** What a box met that it mustn't, as soon as it does. */
  failed(): Promise<void> {
    return Promise.all(this.#running).then(() => {});
  }

  /** Says one thing once; what came of it, and the answer's body. */
  async say({ keyId, secret }: Box, body: string) {
    const stamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret).update(`${stamp}.${body}`).digest("hex");
    const at = performance.now();
    const answer = await ask(`${this.#url()}/v1/relay/${keyId}`, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: {
        "x-service-timestamp": stamp,
        "x-service-signature": signature,
        connection: "close",
      },
    }).catch(() => null);
    const tried: Try = {
      at,
      ms: performance.now() - at,
      status: answer?.status ?? null,
      retryAfter: answer?.headers.get("retry-after") ?? null,
    };
    return { tried, body: answer?.body };
  }

  async #page(box: Box): Promise<void> {
    const waiting: Promise<void>[] = [];
    while (!this.isOver) {
      const page: SentPage = {
        alert: String(this.pages.length + 1),
        device: box.device,
        tries: [],
        firstAt: performance.now(),
        answeredAt: null,
        devices: 0,
      };
      this.pages.push(page);
      waiting.push(this.#untilAnswered(box, page));
      await pause(PAGE_EVERY * (0.5 + this.#random()));
    }
    await Promise.all(waiting);
  }

  async #untilAnswered(box: Box, page: SentPage): Promise<void> {
    const text = bodyOf(page.alert);
    for (;;) {
      const { tried, body } = await this.say(box, text);
      page.tries.push(tried);
      const { status } = tried;
      if (status === 200) {
        page.devices = body.devices;
        page.answeredAt = performance.now();
        return;
      }
      assert.ok(
        status === null || AGAIN.includes(status),
        `page ${page.alert}: ${status} ${JSON.stringify(body)}`,
      );
      if (performance.now() - page.firstAt > DRAIN_MS)
        throw new Error(`page ${page.alert} was never answered`);
      await pause(150);
    }
  }

  async #beat(box: Box): Promise<void> {
    while (!this.isOver) {
      const about = { event: "box.heartbeat", alert_id: "", project: "" };
      const { tried } = await this.say(box, JSON.stringify(about));
      const { status } = tried;
      this.beats.push(tried);
      assert.ok(
        status === null || status === 200 || (AGAIN.includes(status) && status !== 409),
        `a beat was answered ${status}`,
      );
      await pause(BEAT_EVERY);
    }
  }
}

/** The page of an alert that opens now. */
export const bodyOf = (alert: string): string =>
  JSON.stringify({
    event: "alert.opened",
    alert_id: alert,
    timestamp: Math.floor(Date.now() / 1000),
    project: "shop",
    rule: "any",
    template: "disk full",
    count: 1,
    level: 400,
  });
