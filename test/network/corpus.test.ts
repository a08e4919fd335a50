import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { errorStatus } from "../../src/ground/kit/errors.ts";
import { corpus } from "./corpus.ts";
import { exchange } from "./raw.ts";
import { hasty, type Served, served } from "./served.ts";

let box: Served;
before(async () => {
  box = await served();
});
after(() => box.stop());

/** Milliseconds that a good request takes, the best of three: this machine may be busy. */
export async function goodRequest(port: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && best > 100; i++) {
    const { answers, ms } = await exchange(
      port,
      ["GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
      { patience: 10_000 },
    );
    assert.equal(answers[0]?.status, 200);
    best = Math.min(best, ms);
  }
  return best;
}

describe("hostile requests", () => {
  const named = corpus("TOKEN", "KEY").map(({ what }) => what);
  for (const [i, what] of named.entries()) {
    test(what, async () => {
      const hostile = corpus(box.token, box.key)[i];
      assert.ok(hostile);
      const enough = hostile.end === "open" ? { enough: hostile.statuses.length } : {};
      const { answers, rest, end } = await exchange(box.port, hostile.parts, {
        patience: (hasty.request ?? 0) + 3000,
        methods: hostile.methods ?? [],
        ...enough,
      });
      assert.deepEqual(
        answers.map(({ status }) => status),
        hostile.statuses,
        rest,
      );
      assert.equal(rest, "");
      if (hostile.end === "closed") assert.notEqual(end, "open", "the connection is closed");
      for (const [n, answer] of answers.entries()) {
        if (answer.status < 400 || hostile.methods?.[n] === "HEAD") continue;
        const { error } = JSON.parse(answer.body);
        assert.equal(errorStatus[error.code as keyof typeof errorStatus], answer.status);
        assert.equal(error.request_id, answer.headers["x-request-id"]);
      }
    });
  }

  test("none of them is an error of the server's, and the next good request is answered at once", async () => {
    assert.deepEqual(box.errors, []);
    assert.ok((await goodRequest(box.port)) <= 1000);
  });
});

test("an event ahead of rubbish is committed and says so", async () => {
  const ahead = '{"message":"ahead of rubbish","level":500}';
  const { answers } = await exchange(box.port, [
    `POST /v1/ingest HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${box.token}\r\nContent-Length: ${ahead.length}\r\n\r\n${ahead}\0\0`,
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202],
  );
  assert.equal(JSON.parse(answers[0]?.body ?? "").alerted, true);
});
