import assert from "node:assert/strict";
import { test } from "node:test";
import { names } from "./corpus.ts";
import { prepareJazzer } from "./jazzer.ts";
import { fuzz } from "./run.ts";

const SECONDS = Number(process.env["SECONDS_PER_TARGET"] ?? 20);

test(`coverage-guided, ${SECONDS} s a target`, async (t) => {
  const jazzer = prepareJazzer();
  if (typeof jazzer === "string") return t.skip(jazzer);
  for (const target of names) {
    await t.test(target, (inner) => {
      const { executions, coverage, crash } = fuzz(jazzer, target, { seconds: SECONDS });
      inner.diagnostic(`${executions} executions, ${coverage} edges`);
      assert.equal(crash, null, `${crash?.error}\n${crash?.input.toString("base64")}`);
      assert.ok(executions > 0, "nothing was executed");
    });
  }
});
