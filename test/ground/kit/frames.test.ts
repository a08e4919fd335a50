import assert from "node:assert/strict";
import { test } from "node:test";
import { clientFrame, frameReader, opcodes } from "../../../src/ground/kit/frames.ts";

/** A server's frame: not masked. */
function served(first: number, data: Buffer): Buffer {
  const { length } = data;
  if (length < 126) return Buffer.concat([Buffer.of(first, length), data]);
  const size = Buffer.alloc(length < 65_536 ? 2 : 8);
  if (size.length === 2) size.writeUInt16BE(length);
  else size.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.of(first, size.length === 2 ? 126 : 127), size, data]);
}

test("frames of every length are read, wherever what arrives is cut", () => {
  const texts = [0, 1, 125, 126, 65_535, 65_536].map((n) => "x".repeat(n));
  const bytes = Buffer.concat(texts.map((text) => served(0x81, Buffer.from(text))));
  for (const step of [1, 7, 4_096, bytes.length]) {
    const read = frameReader(100_000);
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += step)
      for (const frame of read(bytes.subarray(at, at + step)) ?? assert.fail())
        found.push(frame.data.toString());
    assert.deepEqual(found, texts);
  }
});

test("a part is told from the last one; what is masked, compressed or too long is no frame", () => {
  const read = frameReader(10);
  const parts = read(
    Buffer.concat([served(0x01, Buffer.from("a")), served(0x80, Buffer.from("b"))]),
  );
  assert.deepEqual(
    parts?.map(({ opcode, isLast }) => [opcode, isLast]),
    [
      [opcodes.text, false],
      [opcodes.continuation, true],
    ],
  );
  for (const bytes of [
    clientFrame(opcodes.text, Buffer.from("a")),
    served(0xc1, Buffer.from("a")),
    served(0x81, Buffer.alloc(11)),
    Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
  ])
    assert.equal(frameReader(10)(bytes), null);
});

test("what is sent is masked, and the same once the mask is taken off", () => {
  for (const length of [0, 5, 200, 70_000]) {
    const frame = clientFrame(opcodes.text, Buffer.alloc(length, "é"));
    assert.ok((frame[1] ?? 0) > 0x7f);
    const from = frame.length - length - 4;
    const mask = frame.subarray(from, from + 4);
    const data = frame.subarray(from + 4).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
    assert.deepEqual(Buffer.from(data), Buffer.alloc(length, "é"));
  }
});
