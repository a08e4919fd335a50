import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHeaders } from "../../../src/ground/kit/headers.ts";

function reasons(headers: Record<string, string>): (string | undefined)[] {
  return checkHeaders(headers).map(({ field, reason }) => `${field} ${reason}`);
}

test("ordinary headers pass", () => {
  const headers = {
    Authorization: "Bearer a",
    "X-Api-Key": "",
    "x-tab": "a\tb",
    "!#$%&'*+.^_`|~": "~",
  };
  assert.deepEqual(checkHeaders(headers), []);
});

test("what the client or the signature sets is refused in any case", () => {
  const names = [
    "Host",
    "CONTENT-LENGTH",
    "transfer-encoding",
    "Connection",
    "Keep-Alive",
    "TE",
    "Trailer",
    "Upgrade",
    "Expect",
    "Proxy-Authorization",
    "X-Service-Signature",
    "webhook-id",
  ];
  for (const name of names) {
    assert.deepEqual(reasons({ [name]: "x" }), [`/headers/${name} header_refused`]);
  }
  assert.deepEqual(reasons({ "x-host": "x", "x-serviced": "x", webhooks: "x" }), []);
});

test("names and values that don't fit a header are named, values never repeated", () => {
  for (const name of ["", "a b", "a:b", "é", "a\n", "x".repeat(65)]) {
    assert.deepEqual(reasons({ [name]: "x" }), [`/headers/${name} header_name`]);
  }
  for (const value of ["a\r\nb: c", "a\0", "é", "\x7f", "x".repeat(4_097)]) {
    assert.deepEqual(checkHeaders({ a: value }), [{ field: "/headers/a", reason: "header_value" }]);
  }
  assert.deepEqual(reasons({ "a/b~c": "x" }), ["/headers/a~1b~0c header_name"]);
});

test("one name in two spellings is refused, every fault is listed", () => {
  assert.deepEqual(reasons({ "X-A": "1", host: "h", "x-a": "2" }), [
    "/headers/host header_refused",
    "/headers/x-a header_twice",
  ]);
});
