import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

/** Answers one request, and asks somebody who answers with a header of that name. */
const PROGRAM = `
import http from "node:http";
const server = http.createServer((request, response) => {
  response.end(JSON.stringify([request.headers["x-one"], request.headersDistinct["x-one"], "__proto__" in {}]));
}).listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  http.get({ port, host: "127.0.0.1", headers: ["__proto__", "x", "X-One", "y", "Host", "box"] }, (answer) => {
    answer.on("data", (text) => process.stdout.write(text)).on("end", () => server.close());
  });
});`;

test("a header called __proto__ is a header to the runtime as the executable starts it, and ends nothing", async () => {
  const { RUNTIME_ARGUMENTS } = await import(
    join(import.meta.dirname, "../../systemd/executable.mjs")
  );
  const words = [...RUNTIME_ARGUMENTS, "--input-type=module", "--eval", PROGRAM];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.deepEqual([stderr, status], ["", 0]);
  assert.deepEqual(JSON.parse(stdout), ["y", ["y"], false]);
});
