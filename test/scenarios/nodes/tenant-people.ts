import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../../support/box.ts";
import { ask } from "../../support/hosted-role.ts";
import { TenantLedger } from "./tenant-ledger.ts";

/** Of anybody, for one answer. */
const ANSWER_MS = 3_000;
/** Where nothing falls meanwhile: what isn't answered may have been done. */
const LONG_MS = 120_000;
const AGAIN_MS = 100;
/** More than come between two looks. */
const LISTED = 100;
const LOOKS_AN_ACK = 3;
const LOOKS_A_KEY = 8;

/** How somebody asks: of one node after the other. */
interface Asking {
  method: string;
  path: string;
  token: string;
  body?: object;
}

/** Who sends to a hosted tenant, and who uses it, by any of its nodes. */
export class TenantPeople {
  readonly id: string;
  readonly ledger = new TenantLedger();
  readonly #place: number;
  readonly #key: string;
  readonly #url: (turn: number) => string;
  readonly #over: AbortSignal;
  /** Of keys, whether each opens, as it was answered. */
  readonly keys = new Map<string, boolean>();
  #latest: { id: string; key: string } | null = null;
  #turn: number;
  #sent = 0;
  /** The longest that nobody answered a sender, milliseconds. */
  longest = 0;

  constructor(
    { id, key, place }: { id: string; key: string; place: number },
    url: (turn: number) => string,
    over: AbortSignal,
  ) {
    this.id = id;
    this.#key = key;
    this.#place = place;
    this.#turn = place;
    this.#url = url;
    this.#over = over;
  }

  /** null: nobody answered in time. */
  #ask({ method, path, token, body }: Asking, withinMs = ANSWER_MS): Promise<Answer | null> {
    return ask(this.#url(this.#turn++) + path, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        connection: "close",
      },
      signal: AbortSignal.timeout(withinMs),
    }).catch(() => null);
  }

  /** A project whose alerts are sent to `receiver`. Its ingest token. */
  async settle(receiver: string): Promise<string> {
    const need = async (path: string, body: object) => {
      const asked = { method: "POST", path, token: this.#key, body };
      let answer = await this.#ask(asked, LONG_MS);
      // Its node is being told to another one.
      for (let tries = 0; answer?.status === 503 && tries < 100; tries++) {
        await pause(AGAIN_MS);
        answer = await this.#ask(asked, LONG_MS);
      }
      const isWell = answer !== null && answer.status < 300;
      assert.ok(isWell, `${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      return answer?.body;
    };
    const path = "/v1/projects/shop";
    await need("/v1/projects", { name: "shop" });
    const { token } = await need(`${path}/sources`, { name: "app", retain_logs: true });
    await need(`${path}/webhooks`, { url: receiver });
    await need(`${path}/rules`, { name: "any", identifier_keys: ["n"], max_open: 0 });
    return String(token);
  }

  /** Sends one event after the other, each until it is answered. Of two senders' events either may come first again. */
  async send(token: string, everyMs: number): Promise<void> {
    while (!this.#over.aborted) {
      const n = `${this.#place}-${++this.#sent}`;
      const from = performance.now();
      while (!this.#over.aborted) {
        const body = { message: "the till is stuck", keys: { n } };
        const answer = await this.#ask({ method: "POST", path: "/v1/ingest", token, body });
        if (answer?.status === 202) {
          this.ledger.answered.set(n, performance.now());
          break;
        }
        await pause(AGAIN_MS);
      }
      this.longest = Math.max(this.longest, performance.now() - from);
      await pause(everyMs);
    }
  }

  /** Reads, acknowledges, makes keys and revokes them. */
  async use(everyMs: number): Promise<void> {
    for (let looks = 1; !this.#over.aborted; looks++) {
      const newest = await this.#look();
      if (newest !== null && looks % LOOKS_AN_ACK === 0) {
        const path = `/v1/alerts/${newest}/ack`;
        const answer = await this.#ask({ method: "POST", path, token: this.#key });
        if (answer?.status === 200) this.ledger.acked.add(newest);
      }
      if (looks % LOOKS_A_KEY === 0) await this.#changeKeys();
      await pause(everyMs);
    }
  }

  /** Follows what changes, by one node after the other, and looks at each new alert that it is told of. */
  async follow(): Promise<void> {
    let told = 0;
    const looks: Promise<void>[] = [];
    while (!this.#over.aborted) {
      for await (const line of this.#changes()) {
        const topics: string[] = JSON.parse(/^data: (.*)/.exec(line)?.[1] ?? "{}").topics ?? [];
        const ids = topics.flatMap((topic) => /^alert:(\d+)$/.exec(topic)?.[1] ?? []).map(Number);
        for (const id of ids.filter((one) => one > told)) looks.push(this.#lookAt(String(id)));
        told = Math.max(told, ...ids);
      }
      await pause(AGAIN_MS);
    }
    await Promise.all(looks);
  }

  /** The lines of a stream, until it breaks. */
  async *#changes(): AsyncGenerator<string> {
    const headers = { authorization: `Bearer ${this.#key}`, accept: "text/event-stream" };
    try {
      const stream = await fetch(`${this.#url(this.#turn++)}/v1/changes`, {
        headers,
        signal: this.#over,
      });
      if (stream.ok && stream.body !== null)
        yield* createInterface({ input: Readable.fromWeb(stream.body as never) });
    } catch {
      // Its node is gone, or has no time.
    }
  }

  /** What a stream told of is there, whoever is asked first. */
  async #lookAt(id: string): Promise<void> {
    while (!this.#over.aborted) {
      const asked = { method: "GET", path: `/v1/alerts/${id}`, token: this.#key };
      const answer = await this.#ask(asked);
      if (answer?.status === 404)
        this.ledger.faults.push(`a stream told of alert ${id}, which isn't there`);
      if (answer?.status === 200) this.ledger.saw(id, answer.body.identifiers.n, "a stream");
      if (answer?.status === 404 || answer?.status === 200) return;
      await pause(AGAIN_MS);
    }
  }

  /** What was answered before is in what is read later. The newest alert. */
  async #look(): Promise<string | null> {
    const { answered, faults } = this.ledger;
    const latest = [...answered.keys()].at(-1);
    const path = `/v1/alerts?limit=${LISTED}`;
    const answer = await this.#ask({ method: "GET", path, token: this.#key });
    if (answer?.status !== 200) return null;
    const alerts: { id: string; identifiers: { n: string } }[] = answer.body.alerts;
    for (const { id, identifiers } of alerts) this.ledger.saw(id, identifiers.n, "a list");
    if (latest !== undefined && !alerts.some(({ identifiers }) => identifiers.n === latest))
      faults.push(`event ${latest} was answered, and isn't in what was read later`);
    return alerts[0]?.id ?? null;
  }

  async #changeKeys(): Promise<void> {
    if (this.#latest !== null) {
      const { id, key } = this.#latest;
      // Until it is answered nobody knows.
      this.keys.delete(key);
      const gone = await this.#ask({ method: "DELETE", path: `/v1/keys/${id}`, token: this.#key });
      // 404: it was done, and the answer was lost.
      if (gone?.status !== 200 && gone?.status !== 404) return;
      this.keys.set(key, false);
      this.#latest = null;
    }
    const made = await this.#ask({ method: "POST", path: "/v1/keys", token: this.#key, body: {} });
    if (made?.status !== 201) return;
    this.#latest = made.body;
    this.keys.set(made.body.key, true);
  }

  /** Whether each key opens that was made and not revoked, and no other. */
  async judgeKeys(): Promise<void> {
    for (const [token, opens] of this.keys) {
      const expected = opens ? 200 : 401;
      let status = 503;
      for (let tries = 0; status === 503 && tries < 100; tries++) {
        if (tries > 0) await pause(AGAIN_MS);
        const asked = { method: "GET", path: "/v1/projects", token };
        status = (await this.#ask(asked, LONG_MS))?.status ?? 503;
      }
      if (status !== expected) this.ledger.faults.push(`a key answers ${status}, not ${expected}`);
    }
  }
}
