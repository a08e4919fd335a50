import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { fillers } from "./bodies.ts";
import { type Struck, struckBox } from "./hour.ts";
import { dearRequests } from "./operations.ts";

/** Every route that takes a body, as the box's own OpenAPI document lists them. */

let box: Struck;
before(async () => {
  box = await struckBox();
});
after(() => box.stop());

const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

test("a body made to be dear holds up no route", async () => {
  const requests = await dearRequests(box.url, oneOf);
  assert.ok(requests.length > 50, `${requests.length} routes`);
  for (const { method, path, type, body, what } of requests) {
    const key = path === "/v1/ingest" ? box.token : box.key;
    const strike = async () => {
      const answer = await fetch(box.url + path.replace(/\{[^}]+\}/g, "p"), {
        method,
        body,
        redirect: "manual",
        headers: { authorization: `Bearer ${key}`, "content-type": type },
        signal: AbortSignal.timeout(30_000),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    await box.blow({ what: `${what} (seed ${seed})`, strike });
  }
});

test("an event and a thousand lines, grown in each way", async () => {
  const send = (type: string, body: string) => async () => {
    const answer = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${box.token}`, "content-type": type },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  for (const [what, filler] of Object.entries(fillers)) {
    const one = `{"message":"x","keys":${filler(1_900_000)}}`;
    await box.blow({ what: `an event: ${what}`, strike: send("application/json", one) });
    const line = `{"message":"x","keys":${filler(4000)}}\n`;
    const lines = line.repeat(Math.floor(4_100_000 / line.length));
    await box.blow({ what: `lines: ${what}`, strike: send("application/x-ndjson", lines) });
  }
});
