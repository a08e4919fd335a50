import assert from "node:assert/strict";
import { Miner } from "../../../src/in/ingest/template/miner.ts";
import { Shaper } from "../../../src/in/ingest/template/reading/shape.ts";
import { inBoth, test } from "../../support/long.ts";
import fc, { anyCharacter } from "../../support/property.ts";

function textOf(message: string): string {
  return new Miner({ limit: 100, rows: [] }).mine(message).root.text;
}

/** The ids of messages, each in the same miner. */
function idsOf(...messages: string[]): string[] {
  const miner = new Miner({ limit: 100, rows: [] });
  return messages.map((message) => miner.mine(message).id);
}

function assertOne(...messages: string[]): void {
  assert.equal(new Set(idsOf(...messages)).size, 1, messages.map(textOf).join("\n"));
}

function assertApart(...messages: string[]): void {
  assert.equal(new Set(idsOf(...messages)).size, messages.length, messages.map(textOf).join("\n"));
}

function table(cases: Readonly<Record<string, string>>): void {
  for (const [message, text] of Object.entries(cases)) assert.equal(textOf(message), text, message);
}

test("numbers, units, addresses, paths and ids vary; words stay", () => {
  table({
    "User 42 failed login from 10.0.0.1": "User <*> failed login from <*>",
    "block of 384.0 B, then 5.2 KB": "block of <*>, then <*>",
    "took 12ms, 3.5 s or <1 sec": "took <*> or <*>",
    "node-129 lost eth0 on CPU#3": "node-<*> lost eth<*> on CPU#<*>",
    "removed blk_-1608999687919862906 from /mnt/data/x": "removed blk_<*> from <*>",
    "iar 003a90fc dear 0x1f": "iar <*> dear <*>",
    "peer fe80::1 and ff:f2:9f:16:e2:23 gone": "peer <*> and <*> gone",
    "opened C:\\Windows\\x.dll and https://a.example/b?c=d&e=f": "opened <*> and <*>",
    "cache.example.com:6379 refused, redis:6379 too": "<*> refused, <*> too",
    "version v1.2.3 and HTTP/1.1": "version v<*> and HTTP/<*>",
    "upload at Fri Jun 17 07:07:00 2005 done": "upload at <*> done",
    "the 64-bit build": "the <*>-bit build",
    "%LINK-3-UPDOWN: Interface Gi0/1 is down": "%LINK-<*>-UPDOWN: Interface Gi<*> is down",
    "pod web-7d9f8b6c5-x2x9k was killed": "pod <*> was killed",
    "ssh2 with sha256 over ipv6": "ssh2 with sha256 over ipv6",
    "psycopg2.OperationalError in Log4jLogger": "psycopg2.OperationalError in Log4jLogger",
    "mState:4 at main.go:57": "mState:<*> at main.go:<*>",
    "java.net.NoRouteToHostException at com.example.Main":
      "java.net.NoRouteToHostException at com.example.Main",
  });
});

test("a list of values, or a repeated value, is one variable of any length", () => {
  assertOne("fans ( 3552 3534 3375 )", "fans ( 3552 3534 3375 4245 3515 )");
  assertOne("ids IN (1, 2, 3)", "ids IN (4)");
  assertOne("lost node an14 an15 an16", "lost node an1 an2");
  assertOne("sent 1190 bytes (1.16 KB) to a peer", "sent 403 bytes to a peer");
  assertOne("connection from 10.0.0.1 ()", "connection from 10.0.0.2 (host.example.com)");
  assertOne("INSERT INTO t VALUES (1, 'a'), (2, NULL)", "INSERT INTO t VALUES (3, 'b')");
  assertApart("fans ( 3552 **** 3375 )", "fans ( 3552 3534 3375 )");
});

test("a word is never a variable at first sight", () => {
  assertApart("Started", "Paused");
  assertApart("GET refused", "POST refused");
  assertApart("overlap:true", "overlap:false");
  assertApart("begin of run", "end of run");
});

test("many unclosed quotes cost one search", () => {
  const shaper = new Shaper();
  const spent = (word: string) => {
    const before = process.cpuUsage();
    for (let i = 0; i < 150; i++) shaper.shapeOf(`${i} ${word.repeat(1300)}`);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const plain = spent(" aa ");
  for (const word of [' "a ', " 'a ", ' "\\']) {
    const took = spent(word);
    assert.ok(took < 6 * plain + 50, `${took} ms, words without quotes ${plain} ms`);
  }
  table({
    'x "y "z "a "b c" d': "x <*> d",
    "x 'y \"a 'b \"c d": "x 'y \"a 'b \"c d",
  });
});

test("quoted values vary, a quoted message doesn't", () => {
  table({
    'pulling image "nginx:1.25" now': "pulling image <*> now",
    "bad literal: 'abc'": "bad literal: <*>",
    "it can't be done": "it can't be done",
    '"SyncLoop UPDATE" ran': '"SyncLoop UPDATE" ran',
    'got "GET /a/b?c=1 HTTP/1.1" from it': 'got "GET <*>" from it',
  });
});

test("headers of many kinds are recognised", () => {
  const message = "Connection of 7 clients lost";
  const headers = [
    "<34>Oct 11 22:14:15 mymachine su[12]: ",
    "<34>1 2003-10-11T22:14:15.003Z host.example.com app 12 ID47 - ",
    "Jun  4 15:16:01 combo sshd(pam_unix)[19939]: ",
    "2015-10-18 18:01:47,978 INFO [main] org.example.App: ",
    "2024-05-01 10:00:00.123  WARN 7 --- [main] com.example.App : ",
    "2024-05-01T10:00:00.123456+02:00 ERROR ",
    "[2024-05-01 10:00:00] [notice] [pid 7:tid 8] ",
    "[Sun Dec 04 04:47:44 2005] [error] ",
    "17/06/09 20:10:40 INFO executor.Backend: ",
    "081109 203615 148 INFO dfs.DataNode$Packet: ",
    "2015-07-29 17:41:41,536 - INFO  [main:Peer[id=1]@101] - ",
    "20171223-22:15:29:606|Step_LSC|30002312|",
    "[10.30 16:49:06] chrome.exe *64 - ",
    "I0102 15:04:05.123456   12345 kubelet.go:123] ",
    "2024-05-01 10:00:00,123 - my.module - INFO - ",
    "- 1117838570 2005.06.03 R02-M1-N0 2005-06-03-15.42.50.363779 R02-M1-N0 RAS KERNEL INFO ",
    "nova.log.1 2017-05-16 00:00:00.008 25746 INFO nova.api [req-1 - - -] ",
    "\u001b[32m2024-05-01 10:00:00 INFO\u001b[0m ",
  ];
  for (const header of headers)
    assert.equal(textOf(header + message), "<*> Connection of <*> clients lost", header);
});

test("a text that only looks like a header stays", () => {
  table({
    "2024-05-01T10:00:00Z Connection failed: timeout": "<*> Connection failed: timeout",
    "1131563037 alignment exceptions": "<*> alignment exceptions",
    "10.45.22.126 - port closed": "<*> - port closed",
    "May we go on": "May we go on",
    "2024-05-01 10:00:00 INFO Connection - lost 5 times": "<*> Connection - lost <*> times",
    "2024-05-01 10:00:00 INFO Retrying: 5 of 7": "<*> Retrying: <*> of <*>",
    "Retrying: 5 of 7": "Retrying: <*> of <*>",
  });
});

test("JSON: keys constant, values variable, the event's text kept, order of keys no matter", () => {
  assertOne(
    '{"level":"info","msg":"user 4 logged in","user":"bob","n":[1,2]}',
    '{"n":[], "user":"al\\"ice", "msg":"user 71 logged in", "level":"warn"}',
  );
  assertApart('{"msg":"a","n":1}', '{"msg":"b","n":1}');
  assertApart('{"a":1}', '{"a":1,"b":2}');
  table({
    'sent {"id":7,"to":{"name":"x","at":null}} twice':
      'sent {"id":<*>,"to":{"at":<*>,"name":<*>}} twice',
    '{"a":1,"b': '{"a":<*>,"b":<*>}',
    "set {1, 2} of {x}": "set {<*>} of {x}",
  });
});

test("logfmt: keys constant, values variable, the event's text kept, order of keys no matter", () => {
  assertOne(
    'level=info msg="cache miss" key=user:7 shard=3',
    'shard=1 key=order:9 msg="cache miss" level=warn',
  );
  assertApart('level=info msg="cache miss"', 'level=info msg="cache hit"');
  assertOne(
    "order paid amount=5 currency=EUR user=alice",
    "order paid user=bob currency=USD amount=7.5",
  );
  assert.equal(textOf("order paid amount=5 user=al"), "order paid amount=<*> user=<*>");
});

test("stack traces: the first line and each cause shape them, never the frames", () => {
  const java = (frames: number, cause: string): string =>
    `java.lang.IllegalStateException: Order ${frames} is closed${"\n\tat a.B.c(B.java:5)".repeat(frames)}\nCaused by: ${cause}: ${frames}\n\t... ${frames} more`;
  assertOne(java(2, "java.io.IOException"), java(300, "java.io.IOException"));
  assertApart(java(2, "java.io.IOException"), java(2, "java.sql.SQLException"));
  assertOne(
    "TypeError: x is undefined\n    at f (/app/a.js:1:2)\n    at g (/app/b.js:3:4)",
    "TypeError: x is undefined\r\n    at h (/app/c.js:5:6)\r\n",
  );
  const python = (line: number, end: string): string =>
    `Traceback (most recent call last):\n  File "a.py", line ${line}, in f\n    x()\n${end}`;
  assert.equal(textOf(python(1, "ValueError: bad 7\n")), "ValueError: bad <*>");
  assertOne(
    python(1, "ValueError: bad 7"),
    python(99, "ValueError: bad 8").replaceAll("\n", "\r\n"),
  );
  assertApart(python(1, "ValueError: bad"), python(1, "KeyError: bad"));
  assert.equal(
    textOf(`Job 5 failed\n${python(1, "KeyError: 'a'")}`),
    "Job <*> failed\\nKeyError: <*>",
  );
  assertOne(
    "panic: boom\n\ngoroutine 1 [running]:\nmain()",
    "panic: boom\n\ngoroutine 7 [running]:\nother()",
  );
});

test("line ends: CRLF is LF, and the one at the end is none", () => {
  assertOne("one\ntwo", "one\r\ntwo", "one\ntwo\n", "one\r\ntwo\r\n");
  assertApart("one\ntwo", "one two");
});

test("only the first 4 KiB shape a message, cut at a blank, and its length doesn't", () => {
  const start = "the import stopped ".repeat(400);
  assertOne(start, `${start}${"x ".repeat(20_000)}`, `${start.slice(0, 4_500)}y`);
  assertOne("a".repeat(5_000), "b".repeat(60_000));
  assert.equal(textOf("a".repeat(5_000)), "<*>");
  assert.ok(textOf(start).length < 1_100);
  assertApart(start, `${start.slice(0, 2_000)}z ${start}`);
});

test("Unicode: letters of any script are words, digits of any script digits, surrogates stay whole", () => {
  table({
    "Benutzer Jürgen angemeldet": "Benutzer Jürgen angemeldet",
    "عدد ٤٢ خطأ": "عدد <*> خطأ",
    订单12345支付失败: "订单<*>支付失败",
    "done\u00a0in 5\u202fms": "done in <*>",
    "party 🎉 over": "party 🎉 over",
    "lone \ud83c here": "lone \ufffd here",
  });
  assertOne("a\u00a0b", "a b");
});

test("control characters are shown escaped, colours are left out", () => {
  table({
    "a\tb\u0000c\u0007": "a\\tb\\u0000c\\u0007",
    "\u001b[31mred\u001b[0m alert": "red alert",
    "one\ntwo": "one\\ntwo",
  });
});

test("a literal <*> is no wildcard", () => {
  assertApart("a <*> b", "a 5 b", "a \\<*> b");
  assert.equal(textOf("a <*> b"), "a \\<*> b");
  assertApart("a \u0001 b", "a 5 b");
});

test("the empty message has one template", () => {
  assertOne("", " ", "\r\n", "\u00a0");
  assert.equal(textOf(""), "(empty message)");
});

test("addresses, tokens and long base64 never show", () => {
  const secret = fc.oneof(
    fc.emailAddress().filter((address) => /^[a-z0-9][^=]*$/i.test(address)),
    fc.base64String({ minLength: 48, maxLength: 90 }).filter((text) => /\d/.test(text)),
    fc
      .tuple(fc.uint8Array({ minLength: 24 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([a, b]) => `eyJhbGciOiJIUzI1NiJ9.eyJ${base64url(a)}.${base64url(b)}`),
  );
  const around = fc.constantFrom(
    "token ? used",
    "<?>",
    "to=?, ok",
    'sent "?" on',
    '{"to":"?"}',
    "(?)",
    "mail to ?.",
    "a=1 to=?",
    "?",
  );
  fc.assert(
    fc.property(secret, around, (value, place) => {
      const text = textOf(place.replace("?", () => value));
      for (const part of value.split(/[@.=]/).filter((one) => one.length > 5)) {
        if (!place.includes(part) && !/^(?:com|example)/.test(part))
          assert.ok(!text.includes(part), text);
      }
    }),
    { numRuns: 400 },
  );
});

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

for (const [as, runs] of inBoth(300, 2_000))
  as("any string gets a shape, without control characters in its text", () => {
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        '{"',
        "}",
        "[",
        "(",
        ")",
        "'",
        '"',
        "=",
        "<",
        "<*>",
        "\n\tat ",
        "Caused by: ",
        "2024-05-01 10:00:00 ",
        "Jan  1 00:00:00 h p: ",
        "\ud800",
        "\u0001",
        "a@",
        "0x",
        "-",
        "://",
        "\\",
        "/",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = textOf(pieces.join(""));
        assert.ok(!/[\u0000-\u001f\u007f]/.test(text) && text.isWellFormed(), JSON.stringify(text));
        assert.notEqual(text, "");
      }),
      { numRuns: runs },
    );
  });

test("digits in names make another shape, also with the cache", () => {
  assertApart("ran ssh2 now", "ran ssh3 now");
  assertApart("redis:6379 refused", "redis:1234 refused");
});

for (const [as, runs] of inBoth(300, 2_000))
  as("digits of numbers make no other shape, so the cache treats such lines as one", () => {
    const words = fc.constantFrom(
      "took ",
      "at ",
      "node-",
      "id=",
      "a:",
      ":",
      ".",
      "-",
      "/",
      " ",
      "x",
      "[",
      "] ",
      "port ",
      "2024-",
      "ms",
      "redis:",
      "1",
      "23",
      "456",
      "7890",
      "1234567890",
      "(",
      ")",
      ",",
      "INFO ",
      '"',
      "{",
      "#",
      "0x",
      "f",
    );
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 14 }),
        fc.integer({ min: 1, max: 9 }),
        (parts, digit) => {
          const line = parts.join("");
          const other = line.replace(
            /(^|[^\da-zA-Z:])(\d+)/g,
            (_, before, run) => before + String(digit).repeat(run.length),
          );
          const shaper = new Shaper();
          assert.equal(shaper.shapeOf(other), shaper.shapeOf(line), `${line}\n${other}`);
          const miner = new Miner({ limit: 100, rows: [] });
          const cold = new Miner({ limit: 100, rows: [] }).mine(other).id;
          miner.mine(line);
          assert.equal(miner.mine(other).id, cold);
        },
      ),
      { numRuns: runs },
    );
  });
