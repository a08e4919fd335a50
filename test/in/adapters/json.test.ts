import assert from "node:assert/strict";
import { test } from "node:test";
import { UnreadableBody } from "../../../src/in/adapters/adapter.ts";
import { jsonBody } from "../../../src/in/adapters/json.ts";

const MIB = 1024 * 1024;
const quoted = (text: string) => Buffer.from(`"${text}"`);
const isTooLarge = (error: unknown) =>
  error instanceof UnreadableBody && error.refusal.why === "too_large";

test("a JSON text is refused by what it needs in memory: two bytes a character unless all are ASCII", () => {
  for (const taken of ["a".repeat(19 * MIB), "é".repeat(9 * MIB), "日".repeat(9 * MIB)])
    assert.equal(jsonBody(quoted(taken)), taken);
  for (const refused of [`é${"a".repeat(10 * MIB)}`, `😀${"日a".repeat(5 * MIB)}`])
    assert.throws(() => jsonBody(quoted(refused)), isTooLarge);
});
