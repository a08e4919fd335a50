import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { lineGroups } from "../../cli/lines.ts";

async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const group of lineGroups(Readable.from(chunks))) lines.push(...group);
  return lines;
}

test("lines end with LF, CR LF or CR, wherever a read ends", async () => {
  const text = "a\nb\r\nc\rd\n\n  \r\né\u2028f";
  const whole = ["a", "b", "c", "d", "é\u2028f"];
  assert.deepEqual(await linesOf(text), whole);
  for (let at = 0; at <= text.length; at++)
    assert.deepEqual(await linesOf(text.slice(0, at), text.slice(at)), whole, `cut at ${at}`);
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
  assert.deepEqual(await linesOf(...bytes), whole);
  assert.deepEqual(await linesOf("x\r"), ["x"]);
});

test("a line without an end is kept as far as a message can be long", async () => {
  const [line = "", next] = await linesOf(...Array(40).fill("x".repeat(10_000)), "\ny");
  assert.ok(line.length > 65_536 && line.length <= 142_000, String(line.length));
  assert.equal(next, "y");
});
