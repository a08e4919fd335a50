import type { Part } from "./raw.ts";

/** One ill-formed or two-faced request, the statuses it gets and how its connection ends. */
export interface Hostile {
  what: string;
  parts: readonly Part[];
  statuses: readonly number[];
  end: "closed" | "open";
  /** Methods of the requests, where one is HEAD. */
  methods?: readonly string[];
}

const EVENT = '{"message":"x"}';
const NEXT = "GET /v1/version HTTP/1.1\r\nHost: a\r\n\r\n";

/** Requests that proxies and servers are known to read in different ways (RFC 9112 §11.2), and plain rubbish. */
export function corpus(token: string, key: string): Hostile[] {
  const auth = `Authorization: Bearer ${token}\r\n`;
  const ingest = (fields: string, body = EVENT) =>
    `POST /v1/ingest HTTP/1.1\r\nHost: a\r\n${auth}${fields}\r\n${body}`;
  const api = (fields: string, body = "") =>
    `POST /v1/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${fields}\r\n${body}`;
  const get = (head: string) => `GET /v1/version HTTP/1.1\r\n${head}\r\n`;
  const refused = (what: string, ...parts: Part[]): Hostile => ({
    what,
    parts,
    statuses: [400],
    end: "closed",
  });
  const taken = (what: string, ...parts: Part[]): Hostile => ({
    what,
    parts,
    statuses: [202],
    end: "open",
  });
  return [
    ...smuggling(ingest, refused, taken),
    ...heads(get, refused),
    ...targets(auth, refused, taken),
    ...pipelines({ auth, ingest, taken }),
    ...bodies({ ingest, api, refused, taken }),
  ];
}

type Make = (what: string, ...parts: Part[]) => Hostile;
type Post = (fields: string, body?: string) => string;

function smuggling(ingest: Post, refused: Make, taken: Make): Hostile[] {
  const chunked = `f\r\n${EVENT}\r\n0\r\n\r\n`;
  const te = (coding: string) => ingest(`Transfer-Encoding: ${coding}\r\n`, chunked);
  const unknown = (what: string, request: string): Hostile => ({
    ...refused(what, request),
    statuses: [415],
  });
  return [
    refused(
      "a length and chunks",
      ingest("Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    ),
    refused(
      "chunks and a length",
      ingest("Transfer-Encoding: chunked\r\nContent-Length: 15\r\n", chunked),
    ),
    refused("two lengths", ingest("Content-Length: 15\r\nContent-Length: 16\r\n")),
    refused("two equal lengths", ingest("Content-Length: 15\r\nContent-Length: 15\r\n")),
    refused("two lengths in one field", ingest("Content-Length: 15, 15\r\n")),
    refused("a length with a plus", ingest("Content-Length: +15\r\n")),
    refused("a negative length", ingest("Content-Length: -1\r\n")),
    refused("a hexadecimal length", ingest("Content-Length: 0xf\r\n")),
    refused("an empty length", ingest("Content-Length: \r\n")),
    refused("a length past 2^64", ingest("Content-Length: 18446744073709551631\r\n")),
    refused("a space before the colon", ingest("Transfer-Encoding : chunked\r\n", chunked)),
    unknown("a coding that looks like chunked", te("xchunked")),
    unknown("no coding by name", te("identity")),
    refused("chunked not last", te("chunked, gzip")),
    refused("chunked twice, once wrongly", te("chunked, identity")),
    unknown("a coding that isn't undone", te("gzip, chunked")),
    refused("chunked twice", te("chunked, chunked")),
    taken("chunked in capitals", te("CHUNKED")),
    refused("a folded field", ingest("X-A: b\r\n Content-Length: 15\r\n")),
    refused(
      "a length in the trailer",
      ingest("Transfer-Encoding: chunked\r\n", `f\r\n${EVENT}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    ),
    refused("lines that end in LF only", ingest("Content-Length: 15\n").replaceAll("\r\n", "\n")),
    refused("CR alone", ingest("X-A: b\rX-B: c\r\nContent-Length: 15\r\n")),
  ];
}

function heads(get: (head: string) => string, refused: Make): Hostile[] {
  const flood = (n: number) => Array.from({ length: n }, (_, i) => `X-${i}: a\r\n`).join("");
  const tooLarge = (what: string, ...parts: Part[]) => ({
    ...refused(what, ...parts),
    statuses: [431],
  });
  return [
    refused("no Host", get("")),
    refused("two Hosts", get("Host: a\r\nHost: b\r\n")),
    { ...refused("an empty Host", get("Host: \r\n")), statuses: [200], end: "open" },
    refused("a Host that is none", get("Host: a b/../<>\r\n")),
    refused("half a bracket", get("Host: [::\r\n")),
    refused("a Host in Latin-1", Buffer.from(get("Host: \xe4\r\n"), "latin1")),
    {
      ...refused(
        "two bearers",
        get("Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n"),
      ),
      statuses: [401],
    },
    refused("NUL in a field", get("Host: a\r\nX: a\0b\r\n")),
    refused("a field without a name", get("Host: a\r\n: b\r\n")),
    refused("a field without a colon", get("Host: a\r\nnothing\r\n")),
    tooLarge("150 fields", get(`Host: a\r\n${flood(150)}`)),
    tooLarge("2,000 fields", get(`Host: a\r\n${flood(2000)}`)),
    tooLarge("a field of 20 KB", get(`Host: a\r\nX: ${"a".repeat(20_000)}\r\n`)),
    tooLarge("a target of 20 KB", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`),
    refused("HTTP/0.9", "GET /v1/version\r\n\r\n"),
    refused("HTTP/3", get("Host: a\r\n").replace("/1.1", "/3.0")),
    refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    refused("a TLS hello", Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])),
    refused("a method that is none", get("Host: a\r\n").replace("GET", "BREW")),
    refused("a lower-case method", get("Host: a\r\n").replace("GET", "get")),
  ];
}

function targets(auth: string, refused: Make, taken: Make): Hostile[] {
  const target = (text: string, method = "GET") => `${method} ${text} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const ok = (what: string, ...parts: Part[]): Hostile => ({
    what,
    parts,
    statuses: [200],
    end: "open",
  });
  return [
    ok("absolute-form of another host", target("http://evil.example/v1/version")),
    taken(
      "absolute-form on the ingest door",
      `POST http://evil.example/v1/ingest HTTP/1.1\r\nHost: a\r\n${auth}Content-Length: 15\r\n\r\n${EVENT}`,
    ),
    refused("absolute-form with a bad port", target("http://evil.example:99999/v1/version")),
    refused("absolute-form of another scheme", target("ftp://evil.example/v1/version")),
    refused("asterisk-form", target("*", "OPTIONS")),
    refused("a target without a slash", target("v1/version")),
    refused("only a query", target("?a")),
    refused("a backslash", target("/v1\\version")),
    { ...refused("authority-form", target("evil.example:443", "CONNECT")), statuses: [405] },
    { ...ok("two slashes", target("//evil.example/v1/version")), statuses: [404] },
    { ...ok("a method with no route", target("/v1/version", "TRACE")), statuses: [405] },
    { ...ok("half an escape", target("/v1/projects/%E0%A4%A/rules")), statuses: [400] },
    ok(
      "an upgrade to what isn't spoken",
      "GET /v1/version HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ),
    ok(
      "an upgrade to HTTP/2",
      "GET /v1/version HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    ),
    { ...ok("HTTP/1.0 without a Host", "GET /healthz HTTP/1.0\r\n\r\n"), end: "closed" },
  ];
}

function pipelines({
  auth,
  ingest,
  taken,
}: {
  auth: string;
  ingest: Post;
  taken: Make;
}): Hostile[] {
  const event = ingest("Content-Length: 15\r\n");
  const head = "HEAD /v1/ingest HTTP/1.1\r\nHost: a\r\n\r\n";
  return [
    {
      ...taken("a pipeline of four, a HEAD among them", event + head + NEXT + event),
      statuses: [202, 405, 200, 202],
      methods: ["POST", "HEAD", "GET", "POST"],
    },
    {
      ...taken(
        "a GET with a body, then another",
        `${NEXT.replace("\r\n\r\n", "\r\nContent-Length: 15\r\n\r\n")}${EVENT}${NEXT}`,
      ),
      statuses: [200, 200],
    },
    {
      ...taken(
        "a stranger's body, then another request",
        `POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n${EVENT}${NEXT}`,
      ),
      statuses: [401, 200],
    },
    {
      ...taken("rubbish behind an event that is being committed", `${event}rubbish\r\n\r\n`),
      end: "closed",
    },
    {
      ...taken(
        "100 Continue",
        ingest("Content-Length: 15\r\nExpect: 100-continue\r\n", ""),
        20,
        EVENT,
      ),
      statuses: [100, 202],
    },
    {
      ...taken(
        "no 100 Continue for a stranger",
        `POST /v1/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n`,
      ),
      statuses: [401],
      end: "closed",
    },
    {
      ...taken(
        "no 100 Continue for too much",
        ingest("Content-Length: 3000000\r\nExpect: 100-continue\r\n", ""),
      ),
      statuses: [413],
      end: "closed",
    },
    taken("another expectation", ingest("Content-Length: 15\r\nExpect: a-miracle\r\n")),
    {
      ...taken(
        "a bearer in Latin-1",
        Buffer.from(event.replace(auth, "Authorization: Bearer \xff\r\n"), "latin1"),
      ),
      statuses: [401],
    },
  ];
}

function bodies({
  ingest,
  api,
  refused,
  taken,
}: {
  ingest: Post;
  api: Post;
  refused: Make;
  taken: Make;
}): Hostile[] {
  const chunks = "Transfer-Encoding: chunked\r\n";
  const tooLarge = (what: string, ...parts: Part[]) => ({
    ...refused(what, ...parts),
    statuses: [413],
  });
  return [
    refused("a chunk size that is none", ingest(chunks, "zz\r\n")),
    refused("a chunk size past 2^64", ingest(chunks, `fffffffffffffffff\r\n${EVENT}`)),
    refused("a negative chunk size", ingest(chunks, `-1\r\n${EVENT}`)),
    refused("a chunk longer than it says", ingest(chunks, `5\r\n${EVENT}\r\n0\r\n\r\n`)),
    refused("a bad second chunk", ingest(chunks, '5\r\n{"mes\r\n'), 20, "zz\r\n"),
    refused("a bad chunk on the API's door", api(chunks, "zz\r\n")),
    refused("a bad second chunk on the API's door", api(chunks, '5\r\n{"nam\r\n'), 20, "zz\r\n"),
    tooLarge("chunk extensions of 20 KB", ingest(chunks, `f;${"a".repeat(20_000)}\r\n${EVENT}`)),
    tooLarge("a length that is too large", ingest("Content-Length: 99999999\r\n", "")),
    tooLarge("a length that is too large, on the API's door", api("Content-Length: 99999999\r\n")),
    {
      ...taken("one byte at a time", ...ingest("Content-Length: 15\r\n")),
      statuses: [202],
    },
    {
      ...refused(
        "a body that is compressed",
        ingest("Content-Encoding: gzip\r\nContent-Length: 15\r\n"),
      ),
      statuses: [415],
      end: "open",
    },
  ];
}
