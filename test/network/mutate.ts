/** Requests bent at random, the same for the same seed. */

const BITS = [
  ...'\r\n|\n|\r|\0| |\t|:|,|;|=|%|/|?|#|\\|"|{|}|[|]'.split("|"),
  ..."\r\n\r\n|0\r\n\r\n|ffff\r\n|Host: b\r\n|Content-Length: 5\r\n|Content-Length: 0\r\n".split(
    "|",
  ),
  ..."Transfer-Encoding: chunked\r\n|Expect: 100-continue\r\n|Connection: close\r\n|Connection: upgrade\r\n".split(
    "|",
  ),
  ..."Upgrade: websocket\r\n|Content-Encoding: gzip\r\n|Content-Type: application/x-ndjson\r\n|HTTP/1.0|HTTP/2.0".split(
    "|",
  ),
  ..."%00|%2f|%E0%A4%A|..|//|http://b/|\\ud800|1e999|-0|99999999999999999999|\xff\xfe|\xc0\x80|😀".split(
    "|",
  ),
  ...'null|true|[]|{}|[[[[[[[[|"":|HEAD|OPTIONS|DELETE|PATCH|PUT|GET /v1/version HTTP/1.1\r\nHost: a\r\n\r\n'.split(
    "|",
  ),
];

/** One to four changes to `seed`; `other` is what it may be crossed with. */
export function mutate(random: () => number, seed: Buffer, other: Buffer): Buffer {
  let bytes = seed;
  const below = (n: number) => Math.floor(random() * n);
  for (let n = 1 + below(4); n > 0; n--) {
    const at = below(bytes.length + 1);
    const to = Math.min(bytes.length, at + 1 + below(random() < 0.8 ? 8 : 200));
    const before = bytes.subarray(0, at);
    const bit = Buffer.from(BITS[below(BITS.length)] ?? "", random() < 0.5 ? "latin1" : "utf8");
    const changes = [
      () => Buffer.concat([before, bit, bytes.subarray(at)]),
      () => Buffer.concat([before, bit, bytes.subarray(to)]),
      () => Buffer.concat([before, bytes.subarray(to)]),
      () => Buffer.concat([before, bytes.subarray(at, to), bytes.subarray(at)]),
      () => Buffer.concat([before, Buffer.from([below(256)]), bytes.subarray(at + 1)]),
      () => Buffer.concat([before, other.subarray(below(other.length))]),
      () => before,
      () =>
        Buffer.concat([before, Buffer.alloc(below(9000), bytes[at] ?? 0x61), bytes.subarray(to)]),
    ];
    bytes = changes[below(changes.length)]?.() ?? bytes;
  }
  return bytes;
}

/** Changes only a body (its length told rightly) or a target, so that the parser passes it on. */
export function mutateInside(random: () => number, seed: Buffer, other: Buffer): Buffer {
  const text = seed.toString("latin1");
  const end = text.indexOf("\r\n\r\n") + 4;
  const counted = /Content-Length: \d+/;
  if (counted.test(text)) {
    const from = other.indexOf("\r\n\r\n") + 4;
    const body = mutate(
      random,
      seed.subarray(end),
      other.length > from ? other.subarray(from) : other,
    );
    const head = text.slice(0, end).replace(counted, `Content-Length: ${body.length}`);
    return Buffer.concat([Buffer.from(head, "latin1"), body]);
  }
  const [, before = "", target = "", after = ""] = /^(\S+ )(\S+)([\s\S]*)$/.exec(text) ?? [];
  const bent = mutate(random, Buffer.from(target, "latin1"), Buffer.from("/v1/a?b=c"));
  const visible = bent.toString("latin1").replace(/[\0-\x20\x7f]/g, "%2e");
  return Buffer.from(before + visible + after, "latin1");
}

/** `bytes` in one to five writes. */
export function split(random: () => number, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: Math.floor(random() * 5) }, () =>
    Math.floor(random() * bytes.length),
  );
  const ends = [...cuts.sort((a, b) => a - b), bytes.length];
  return ends
    .map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
    .filter((part) => part.length > 0);
}

/** Good requests of every kind, which the bent ones are made of. */
export function seeds(token: string, key: string): Buffer[] {
  const as = (bearer: string, line: string, fields = "", body = "") =>
    Buffer.from(
      `${line} HTTP/1.1\r\nHost: box.example\r\nAuthorization: Bearer ${bearer}\r\n${fields}${
        body === "" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`
      }\r\n${body}`,
    );
  const event =
    '{"message":"user 42 failed","level":400,"keys":{"region":"eu","n":1.0},"tags":["a"]}';
  const rest = event.slice(5);
  const chunked = Buffer.from(
    `5\r\n${event.slice(0, 5)}\r\n${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`,
  );
  const rule = JSON.stringify({
    name: "r",
    match: { min_level: 300, tags: ["db"] },
    conditions: [{ key: "region", op: "gte", value: 1 }],
    fire_after: { count: 2, window_minutes: 5 },
    escalations: [{ accounts: [], after_minutes: 5 }],
  });
  const pair = JSON.stringify({
    code: "0".repeat(48),
    email: "a@b.example",
    password: "correct horse",
  });
  return [
    as(token, "POST /v1/ingest", "", event),
    as(token, "POST /v1/ingest", "Content-Type: application/x-ndjson\r\n", `${event}\n${event}\n`),
    Buffer.concat([as(token, "POST /v1/ingest", "Transfer-Encoding: chunked\r\n"), chunked]),
    as(token, "POST /v1/ingest", "Expect: 100-continue\r\n", event),
    as(key, "GET /v1/projects?limit=5&after=a"),
    as(key, "HEAD /v1/projects"),
    as(key, "POST /v1/projects", "", '{"name":"q"}'),
    as(key, "POST /v1/projects/p/rules", "", rule),
    as(key, "PUT /v1/projects/p/rules/loud", "", rule.replace('"r"', '"loud"')),
    as(key, "GET /v1/projects/p/logtail?limit=2&template=x"),
    as(key, "GET /v1/pull?cursor=0&wait=0"),
    as(key, "POST /v1/alerts/1/ack"),
    as(key, "GET /v1/alerts?state=open&limit=1"),
    as(key, "POST /v1/devices", "", JSON.stringify({ token: "0".repeat(64), platform: "ios" })),
    as(
      key,
      "POST /v1/projects/p/oncall/schedules",
      "",
      '{"name":"s","timezone":"Europe/Berlin","layers":[]}',
    ),
    as(key, "GET /v1/projects/p/oncall/schedules/s/preview?from=0&until=86400"),
    as("", "POST /v1/pair", "", pair),
    as("", "GET /v1/pair/verify?receipt=00"),
    as(
      "",
      "GET /public/reports/00000000-0000-4000-8000-000000000000",
      "Accept: application/json\r\nCookie: report=a.b\r\n",
    ),
    as("", "GET /healthz", "X-Forwarded-For: 1.2.3.4, ::1\r\n"),
    as("", "GET /v1/version"),
  ];
}
