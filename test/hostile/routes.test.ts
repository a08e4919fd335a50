import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { fillers } from "./bodies.ts";
import { type Struck, struckBox } from "./hour.ts";

/** Every route that takes a body, as the box's own OpenAPI document lists them. */

let box: Struck;
before(async () => {
  box = await struckBox();
});
after(() => box.stop());

const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

interface Operation {
  requestBody?: { content: Record<string, { schema?: { properties?: object } }> };
}

/** Bytes: most routes take no more, and those that do are named. */
const USUAL = 126_000;
const MORE: Readonly<Record<string, number>> = {
  "/v1/ingest": 2_000_000,
  "/v1/projects/{id}/config": 4_000_000,
};

test("a body made to be dear holds up no route", async () => {
  const document = await (await fetch(`${box.url}/v1/openapi.json`)).json();
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  let struck = 0;
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const [content] = Object.entries(requestBody?.content ?? {});
      if (content === undefined) continue;
      const [type, { schema }] = content;
      const [what, filler] = oneOf(Object.entries(fillers));
      const names = Object.keys(schema?.properties ?? {});
      const whole = filler(MORE[path] ?? USUAL);
      const body = names.length === 0 ? whole : `{${JSON.stringify(oneOf(names))}:${whole}}`;
      const key = path === "/v1/ingest" ? box.token : box.key;
      const strike = async () => {
        const answer = await fetch(box.url + path.replace(/\{[^}]+\}/g, "p"), {
          ...{ method: method.toUpperCase(), body, redirect: "manual" },
          headers: { authorization: `Bearer ${key}`, "content-type": type },
          signal: AbortSignal.timeout(30_000),
        });
        await answer.arrayBuffer();
        return answer.status;
      };
      await box.blow({ what: `${method} ${path}: ${what} (seed ${seed})`, strike });
      struck++;
    }
  assert.ok(struck > 50, `${struck} routes`);
});

test("an event and a thousand lines, grown in each way", async () => {
  const send = (type: string, body: string) => async () => {
    const answer = await fetch(`${box.url}/v1/ingest`, {
      ...{ method: "POST", body },
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
