import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { InRequest } from "../../src/in/adapters/adapter.ts";
import { adapters } from "../../src/in/adapters/list.ts";
import { samples } from "../in/adapters/samples.ts";
import type { Cost, Place } from "./box.ts";

/** What no request may cost: milliseconds that the loop stands, and bytes. */
export const MOST_STALL_MS = 250;
export const MOST_GROWTH = 200_000_000;

/** How often a request may cost too much before it counts. */
const STRIKES = 3;

/** One dear request: its name for whoever reads of it, and what sends it and waits for the answer. */
export interface Blow {
  what: string;
  strike(): Promise<string | number>;
}

/** A box that is struck, in a process of its own. */
export interface Struck extends Place {
  url: string;
  /**
   * Sends it, and gives what it cost. What costs too much is sent again: what the request itself costs comes again, what
   * a busy machine puts on top doesn't. Rejects where it costs too much each time, or is an error of the box's own.
   */
  blow(blow: Blow): Promise<Cost>;
  /** The worst so far, for the report. */
  worst(): string[];
  api(method: string, path: string, body?: unknown): Promise<{ token: string }>;
  stop(): Promise<void>;
}

export async function struckBox(): Promise<Struck> {
  // The suite's own young generation is as large as what a request may cost.
  const execArgv = process.execArgv.filter((word) => !word.includes("semi-space"));
  const child = fork(join(import.meta.dirname, "box.ts"), { execArgv });
  const [place] = (await once(child, "message")) as [Place];
  const url = `http://127.0.0.1:${place.port}`;
  const rows: { what: string; said: string | number; cost: Cost }[] = [];
  const tell = async <T>(word: string): Promise<T> => {
    const heard = once(child, "message");
    child.send(word);
    const [said] = await heard;
    return said as T;
  };
  const highest = (of: (cost: Cost) => number, unit: string) =>
    [...rows]
      .sort((a, b) => of(b.cost) - of(a.cost))
      .slice(0, 5)
      .map(({ what, said, cost }) => `${Math.round(of(cost))} ${unit}: ${what} (${said})`);
  return {
    ...place,
    url,
    async blow({ what, strike }) {
      for (let time = 1; ; time++) {
        await tell("begin");
        const said = await strike();
        const cost = await tell<Cost>("read");
        rows.push({ what, said, cost });
        const { errors, stall, growth } = cost;
        assert.deepEqual(errors, [], what);
        assert.ok(said !== 500, `${what}: 500`);
        if (stall <= MOST_STALL_MS && growth <= MOST_GROWTH) return cost;
        if (time < STRIKES) continue;
        assert.ok(stall <= MOST_STALL_MS, `${what}: the loop stood ${stall} ms (${said})`);
        assert.fail(`${what}: ${growth} bytes more (${said})`);
      }
    },
    worst: () => [
      ...highest(({ stall }) => stall, "ms"),
      ...highest(({ growth }) => growth / 1e6, "MB"),
    ],
    async api(method, path, body) {
      const answer = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${place.key}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as { token: string };
    },
    async stop() {
      child.send("stop");
      await once(child, "exit");
    },
  };
}

/** A request of each kind, at its address: whose answer says how dear it was is for the caller to find out. */
export interface Door {
  kind: string;
  sample: InRequest;
  most: { sent: number; inflated: number };
  send(body: Buffer, how: { type?: string | undefined; encoding: string }): Promise<number>;
}

const HEADERS = [
  "content-type",
  "ce-specversion",
  "ce-id",
  "ce-source",
  "ce-type",
  "title",
  "priority",
  "x-amz-sns-rawdelivery",
  "x-amz-sns-topic-arn",
  "x-amz-sns-message-id",
];

/** Every sample of every adapter, with a source of its own that reads it. */
export async function doorsOf(box: Struck): Promise<Door[]> {
  const doors: Door[] = [];
  for (const adapter of adapters) {
    const { kind, caps } = adapter;
    const known = samples[kind] ?? [];
    assert.ok(known.length > 0, `test/in/adapters/samples.ts has nothing of kind ${kind}`);
    for (const [i, sample] of known.entries()) {
      const options =
        kind === "sns"
          ? { sns_verify: false, sns_auto_confirm: ["arn:aws:sns:eu-west-1:123456789012:alarms"] }
          : sample.options;
      const source = { name: `${kind} ${i}`, kind, options };
      const { token } = await box.api("POST", "/v1/projects/p/sources", source);
      assert.ok(token, `no source of kind ${kind}`);
      const headers = Object.fromEntries(
        HEADERS.flatMap((name) => {
          const value = sample.header(name);
          return value === undefined ? [] : [[name, value]];
        }),
      );
      const query = `${sample.query}` === "" ? "" : `?${sample.query}`;
      const url = `${box.url}/v1/in/${kind}/${token}${sample.path}${query}`;
      doors.push({
        kind,
        sample,
        most: caps,
        async send(body, { type, encoding }) {
          const answer = await fetch(url, {
            method: sample.method,
            body: new Uint8Array(body),
            headers: {
              ...headers,
              ...(type === undefined ? {} : { "content-type": type }),
              ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
            },
          });
          await answer.arrayBuffer();
          return answer.status;
        },
      });
    }
  }
  return doors;
}
