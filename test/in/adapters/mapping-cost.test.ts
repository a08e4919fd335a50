import assert from "node:assert/strict";
import { test } from "node:test";
import { mapped } from "../../../src/in/adapters/mapping/apply.ts";
import { readMapping } from "../../../src/in/adapters/mapping/document.ts";

/** Processor time in milliseconds. */
function cpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const TEXT = ",".repeat(65_000);
const BODY = Array.from({ length: 64 }, () => ({ t: TEXT }));
const PAIRS = Array.from({ length: 60_000 }, (_, i) => ({ name: `a${i}`, value: 1 }));

function run(document: object, root: unknown) {
  const read = readMapping(document, "");
  assert.ok("mapping" in read, JSON.stringify(read));
  const body = Buffer.from(JSON.stringify(root));
  const headers = { query: new URLSearchParams(), header: () => undefined, watched: () => [] };
  const request = { body, headers: {}, ...headers } as unknown as Parameters<
    typeof mapped
  >[1]["request"];
  let answer: ReturnType<typeof mapped> = { events: [], rejected: [] };
  const spent = cpu(() => {
    answer = mapped(root, { mapping: read.mapping, request, tag: "x" });
  });
  return { spent, answer };
}

const again = (steps: readonly string[], times: number) =>
  Array.from({ length: times }, () => steps).flat();
const everywhere = (spec: object) => ({
  message: { at: "/t" },
  tags: Array.from({ length: 16 }, () => spec),
  images: Array.from({ length: 16 }, () => spec),
});
const HOLE = `{/t|${again(["split:,", "join:,"], 6).join("|")}|cut:1}`;

const dear: Readonly<Record<string, [object, unknown]>> = {
  "lists that are split and joined": [
    everywhere({ at: "/t", do: again(["split:,", "join:,"], 8) }),
    BODY,
  ],
  "the same in the holes of a text": [
    { message: { at: "/t" }, tags: Array.from({ length: 4 }, () => ({ text: HOLE.repeat(40) })) },
    BODY,
  ],
  "pairs of a long list": [
    everywhere({ at: "^/0/l", do: ["kv"] }),
    [{ l: PAIRS }, ...Array.from({ length: 100 }, () => ({ t: "x" }))],
  ],
};

test("repeated transforms use up the budget of the body", () => {
  const once = cpu(() => {
    for (let i = 0; i < BODY.length; i++)
      TEXT.split(",")
        .map((part) => part.trim())
        .join(",");
  });
  for (const [name, [document, root]] of Object.entries(dear)) {
    const { spent, answer } = run(document, root);
    assert.ok(answer.events.length > 0, `${name}: what came is an event all the same`);
    assert.ok(answer.rejected.length > 0, `${name}: what is left out is told`);
    assert.ok(spent < 2 * once + 100, `${name}: ${spent} ms, and ${once} ms to do it once`);
  }
});

test("real senders' bodies stay far below the budget", () => {
  const lines = "a line of a log, and another\n".repeat(1000);
  const { answer } = run(
    { message: { at: "/t", do: ["trim", "line"] }, tags: [{ at: "/t", do: ["split:\n"] }] },
    Array.from({ length: 20 }, () => ({ t: lines })),
  );
  assert.deepEqual([answer.events.length, answer.rejected], [20, []]);
});

test("when its conditions use up the budget, an element becomes an event", () => {
  const dear = { at: "/t", do: again(["split:,", "join:,"], 8), in: ["never"] };
  const when = Array.from({ length: 16 }, () => dear);
  const { answer } = run({ when, message: { at: "/title" } }, { t: TEXT, title: "it is down" });
  assert.deepEqual([answer.events.length, answer.events[0]?.message], [1, "it is down"]);
});
