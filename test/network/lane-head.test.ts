import assert from "node:assert/strict";
import { readLaneHead } from "../../src/web/http/lane-head.ts";
import { inBoth, test } from "../support/long.ts";
import fc from "../support/property.ts";
import { seeded } from "../support/seeded.ts";
import { readsLikeNode } from "./lane-oracle.ts";
import { mutate, mutateInside, seeds } from "./mutate.ts";

const LINE = "POST /v1/ingest HTTP/1.1";
const PLAIN = ["Host: a", "Authorization: Bearer t", "Content-Length: 2"];
const head = (...fields: string[]) => [LINE, ...fields].join("\r\n");

test("a plain head is read", () => {
  assert.deepEqual(
    readLaneHead(
      head(
        ...PLAIN,
        "content-TYPE: application/json",
        "Connection: Close",
        "X-Forwarded-For: 1, b",
      ),
    ),
    {
      length: 2,
      closes: true,
      authorization: "Bearer t",
      contentType: "application/json",
      forwardedFor: "1, b",
    },
  );
});

const others: [what: string, head: string][] = [
  ["no Host", head(...PLAIN.slice(1))],
  ["no bearer", head("Host: a", "Content-Length: 2")],
  ["no length", head("Host: a", "Authorization: Bearer t")],
  ["a field twice", head(...PLAIN, "X: 1", "x: 1")],
  ["two lengths", head(...PLAIN, "Content-Length: 2")],
  ["two bearers", head(...PLAIN, "authorization: Bearer u")],
  ["a length with a zero in front", head("Host: a", "Authorization: b", "Content-Length: 02")],
  ["a length of eight digits", head("Host: a", "Authorization: b", "Content-Length: 10000000")],
  ["chunks", head(...PLAIN, "Transfer-Encoding: chunked")],
  ["an expectation", head(...PLAIN, "Expect: 100-continue")],
  ["an upgrade", head(...PLAIN, "Upgrade: h2c")],
  ["a compressed body", head(...PLAIN, "Content-Encoding: gzip")],
  ["a connection that names a field", head(...PLAIN, "Connection: close, x")],
  ["a folded field", head(...PLAIN, "X: a", " b")],
  ["a tab", head(...PLAIN, "X: a\tb")],
  ["no space behind a colon", head(...PLAIN, "X:a")],
  ["two spaces behind a colon", head(...PLAIN, "X:  a")],
  ["a space at the end", head(...PLAIN, "X: a ")],
  ["a space before a colon", head(...PLAIN, "X : a")],
  ["LF alone", head(...PLAIN, "X: a\nY: b")],
  ["CR alone", head(...PLAIN, "X: a\rY: b")],
  ["Latin-1", head(...PLAIN, "X: \xe4")],
  ["NUL", head(...PLAIN, "X: \0")],
  ["an empty field", head(...PLAIN, "X: ")],
  ["a query", head(...PLAIN).replace("ingest", "ingest?a")],
  ["another version", head(...PLAIN).replace("1.1", "1.0")],
  ["another method", head(...PLAIN).replace("POST", "PUT")],
  ["too many fields", head(...PLAIN, ...Array.from({ length: 50 }, (_, i) => `X-${i}: a`))],
];
for (const [what, text] of others)
  test(`${what}: Node's to read`, () => assert.equal(readLaneHead(text), null));

for (const [as, heads] of inBoth(300, 3000))
  as(`what the lane takes of ${heads} heads, Node's server reads in the same way`, () => {
    const name = fc.constantFrom(
      "Host",
      "AUTHORIZATION",
      "authorization",
      "Content-Length",
      "content-length",
      "Content-Type",
      "Connection",
      "X-Forwarded-For",
      "User-Agent",
      "Accept",
      "Cookie",
      "TE",
      "Transfer-Encoding",
      "Expect",
      "Keep-Alive",
      "Upgrade",
      "X_A",
      "X-A!",
      "",
      "Content Length",
    );
    const value = fc.oneof(
      fc.constantFrom(
        "a",
        "Bearer t",
        "keep-alive",
        "close",
        "close, x",
        "2",
        "02",
        "+2",
        "2, 2",
        "chunked",
        "",
      ),
      fc.constantFrom(
        "100-continue",
        "a b",
        "a ",
        " a",
        "a\tb",
        "a\xe4",
        "a\0b",
        "\x7f",
        "application/x-ndjson",
      ),
      fc.string({ unit: "binary-ascii", maxLength: 8 }),
    );
    const usually = (usual: string, ...others: string[]) =>
      fc.oneof(
        { weight: 30, arbitrary: fc.constant(usual) },
        { weight: 1, arbitrary: fc.constantFrom(...others) },
      );
    const field = fc
      .tuple(
        name,
        usually(": ", ":", " : ", ":  ", ":\t", ""),
        value,
        usually("\r\n", "\n", "\r", "\r\n "),
      )
      .map((parts) => parts.join(""));
    const tail = usually("\r\n", " \r\n", "\t\r\n", ", a\r\n", "0\r\n");
    const plain = fc
      .tuple(
        fc.shuffledSubarray(["Host: a", "Authorization: Bearer t", "Content-Length: 2"], {
          minLength: 2,
        }),
        fc.constantFrom([], ["Connection: close"], ["Connection: keep-alive"]),
        fc.array(tail, { minLength: 4, maxLength: 4 }),
      )
      .map(([own, more, tails]) => [...own, ...more].map((field, i) => field + tails[i]));
    let taken = 0;
    fc.assert(
      fc.property(
        plain,
        fc.array(field, { maxLength: 3 }),
        fc.constantFrom("{}", "{}", "{}", "{", "{}\r\n", "\xff\xfe"),
        (own, more, body) => {
          const bytes = Buffer.from(
            `${LINE}\r\n${[...own, ...more].join("")}\r\n${body}`,
            "latin1",
          );
          if (readsLikeNode(bytes)) taken++;
        },
      ),
      { numRuns: heads },
    );
    const random = seeded(fc.readConfigureGlobal().seed ?? 1);
    const good = seeds("t", "k");
    const pick = () => good[Math.floor(random() * good.length)] as Buffer;
    for (let i = 0; i < heads; i++) {
      const bend = random() < 0.5 ? mutate : mutateInside;
      if (readsLikeNode(bend(random, good[i % 2] as Buffer, pick()))) taken++;
    }
    assert.ok(taken > heads / 5, `${taken} of ${2 * heads} were taken at all`);
  });
