import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SourceOptions } from "../../../src/core/projects/source.ts";
import { syslogEvent, tokenOfSyslog } from "../../../src/in/adapters/syslog/event.ts";
import { createFrames } from "../../../src/in/adapters/syslog/frames.ts";
import { readSyslog } from "../../../src/in/adapters/syslog/message.ts";
import fc from "../../support/property.ts";
import { nothingWatched } from "./clean.ts";

const NOW = Date.UTC(2026, 0, 5, 9) / 1000;

function read(text: string | Buffer, options: SourceOptions = {}, peer = "") {
  const message = readSyslog(Buffer.from(text), NOW);
  const event = syslogEvent(message, {
    options,
    peer,
    at: NOW,
    cut: false,
    watched: nothingWatched,
  });
  return { ...event, token: tokenOfSyslog(message) };
}

const seen = (text: string | Buffer) => {
  const { message, level, keys } = read(text);
  return [message, level, keys?.["host"] ?? null];
};

/** Unix seconds of a local time of this machine. */
const local = (...parts: [number, number, number, number, number, number]) =>
  new Date(...parts).getTime() / 1000;

describe("a message of syslog", () => {
  test("syslog by RFC 5424", () => {
    const text =
      '<27>1 2026-01-05T08:35:41.562596+00:00 db nginx 812 TIMEOUT [timeQuality tzKnown="1"][origin@32473 ip="192.0.2.1" software="ng\\"inx\\]"] upstream ünïcode';
    const { message, level, keys, tags, extra } = read(text);
    assert.deepEqual([message, level], ["nginx: upstream ünïcode", 400]);
    assert.deepEqual(
      { ...keys },
      {
        host: "db",
        app: "nginx",
        pid: "812",
        msgid: "TIMEOUT",
        facility: "daemon",
        severity: "err",
        "sd.origin@32473.ip": "192.0.2.1",
        "sd.origin@32473.software": 'ng"inx]',
      },
    );
    assert.deepEqual(tags, ["syslog", "daemon"]);
    assert.equal(extra?.occurredAt, Date.UTC(2026, 0, 5, 8, 35, 41) / 1000);
    assert.deepEqual(seen("<27>1 - - nginx 812 - - no time"), ["nginx: no time", 400, null]);
    const marked = Buffer.concat([
      Buffer.from("<165>1 - h a - - - "),
      Buffer.from("\uFEFFentry\n"),
    ]);
    assert.deepEqual(seen(marked), ["a: entry", 200, "h"]);
    assert.deepEqual(seen('<13>1 - h a - - [x y="z" broken'), ['a: [x y="z" broken', 200, "h"]);
    assert.deepEqual(seen("<13>1 - h a - - -"), ["a: (empty)", 200, "h"]);
  });

  test("syslog by RFC 3164 and its variants", () => {
    const rows: [string, string, number, string | null][] = [
      ["<27>Jan  5 08:35:41 db nginx[812]: timed out", "nginx: timed out", 400, "db"],
      ["<27>Jan 05 08:35:41 db nginx: timed out", "nginx: timed out", 400, "db"],
      ["<27>2026 Jan 5 08:35:41 db nginx: a", "nginx: a", 400, "db"],
      ["<27>Jan 5 2026 08:35:41 db nginx: a", "nginx: a", 400, "db"],
      ["<27>2026-01-05T08:35:41Z db nginx: a", "nginx: a", 400, "db"],
      ["<38>Jan  5 08:35:43 db sshd[99] Accepted publickey", "sshd: Accepted publickey", 200, "db"],
      ["<30>Jan  5 08:12:13 8b1089798cf8[1102]: GET / 200", "8b1089798cf8: GET / 200", 200, null],
      ["<11>python: division by zero\0", "python: division by zero", 400, null],
      ["<11>plain words: division by zero", "plain words: division by zero", 400, null],
      [
        "<30>Jan  5 10:12:13 U7PG2,788a20,v6.5: hostapd: ath0: left",
        "hostapd: ath0: left",
        200,
        "U7PG2",
      ],
      [
        "<189>4231: *Jan  1 18:46:11.457: %SYS-2-CONFIG_I: Configured",
        "SYS: Configured",
        500,
        null,
      ],
      ["<189>4231: Jan  1 18:46:11.457 UTC: %LINK-3-UPDOWN: down", "LINK: down", 400, null],
      ["Jan  5 10:12:13 switch-3 link down", "Jan  5 10:12:13 switch-3 link down", 200, null],
      ["<999>x", "<999>x", 200, null],
      ["<14>a#012b#011c", "a\nb\tc", 200, null],
      ["<14>", "(empty)", 200, null],
    ];
    for (const [text, ...expected] of rows) assert.deepEqual(seen(text), expected, text);
    assert.equal(
      read("<189>1: *Jan  5 08:46:11: %SYS-5-CONFIG_I: x").keys?.["mnemonic"],
      "CONFIG_I",
    );
    assert.equal(read("<13>Jan  5 08:00:00 app: x", {}, "192.0.2.9").keys?.["host"], "192.0.2.9");
  });

  test("a syslog time without a year gets the nearest one, and one that is days off is ignored", () => {
    const at = (time: string) => read(`<13>${time} h a: x`).extra?.occurredAt ?? null;
    assert.equal(at("Jan  5 08:30:00"), local(2026, 0, 5, 8, 30, 0));
    assert.equal(at("Jan  5 08:30:00 +02:00"), Date.UTC(2026, 0, 5, 6, 30) / 1000);
    assert.equal(at("Dec 31 08:30:00"), null);
    const newYear = Date.UTC(2026, 0, 1, 0, 0, 30) / 1000;
    const message = readSyslog(Buffer.from("<13>Dec 31 12:00:00 h a: x"), newYear);
    assert.equal(message.at, local(2025, 11, 31, 12, 0, 0));
  });

  test("a syslog message that isn't UTF-8 is Latin-1", () => {
    assert.equal(read(Buffer.from("<13>caf\xe9", "latin1")).message, "café");
  });

  test("the token in structured data is no key of the event", () => {
    const token = "0123456789abcdef0123456789abcdef";
    const named = read(`<13>1 - h a - - [box@32473 key="${token}"] x`);
    assert.equal(named.token, token);
    const called = read(`<13>1 - h a - - [${token}@41058 tag="web"] x`);
    assert.equal(called.token, token);
    assert.equal(read(`<13>1 - h a - - [${token}@41058] x`).token, token);
    for (const { keys, message } of [named, called])
      assert.doesNotMatch(JSON.stringify([keys, message]), new RegExp(token));
    assert.equal(read("<13>1 - h a - - - x").token, null);
  });

  test("the level in a syslog text counts if the source says so, and for Docker", () => {
    const level = (text: string, options?: SourceOptions) => read(text, options).level;
    const byText = { level_from_text: true };
    assert.equal(level("<27>Jan  5 08:00:00 h app: INFO starting"), 400);
    assert.equal(level("<27>Jan  5 08:00:00 h app: INFO starting", byText), 200);
    assert.equal(level("<30>Jan  5 08:00:00 h app: level=error msg=x", byText), 400);
    assert.equal(level('<30>Jan  5 08:00:00 h app: {"level":50,"msg":"x"}', byText), 400);
    assert.equal(level("<30>Jan  5 08:00:00 h app: INFORMED of an ERRORLESS run", byText), 200);
    const docker = "<27>Jan  5 08:00:00 8b1089798cf8[1102]: 2026-01-05 DEBUG pool ready";
    assert.equal(level(docker), 100);
    assert.equal(level(docker, { level_from_text: false }), 400);
  });

  test("logfmt becomes keys if the source says so", () => {
    const text = '<14>Jan  5 08:00:00 h fw: action=deny src=192.0.2.1 msg="a \\"b\\" c" x="';
    assert.equal(read(text).keys?.["action"], undefined);
    const { keys } = read(text, { logfmt: true });
    assert.deepEqual(
      [keys?.["action"], keys?.["src"], keys?.["msg"]],
      ["deny", "192.0.2.1", 'a "b" c'],
    );
  });

  test("any bytes are a syslog message", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, marked) => {
        const { message, level } = read(
          Buffer.concat([Buffer.from(marked ? "<13>1 - h a - - [" : ""), bytes]),
          { level_from_text: true, logfmt: true },
        );
        assert.ok(message.length > 0 && [100, 200, 300, 400, 500].includes(level));
      }),
    );
  });
});

describe("messages in a stream", () => {
  const texts = (frames: { bytes: Buffer }[]) => frames.map(({ bytes }) => bytes.toString());

  test("both syslog framings work in one stream, wherever the chunks break", () => {
    const words = [
      "<13>first, by line",
      "<11>1 - - a - - - second",
      "<14>third",
      "<14>with\nlines",
    ];
    const stream = Buffer.from(
      `${words[0]}\n\r\n${words[1]?.length} ${words[1]}${words[2]}\0${words[3]?.length} ${words[3]}`,
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length })), (cuts) => {
        const frames = createFrames();
        const at = [0, ...cuts.sort((a, b) => a - b), stream.length];
        const out = at.slice(1).flatMap((to, i) => frames.push(stream.subarray(at[i], to)));
        assert.deepEqual(texts([...out, ...frames.end()]), words);
      }),
    );
  });

  test("a long message of a stream is cut, and the next one is read", () => {
    const frames = createFrames();
    const [long, next] = frames.push(Buffer.from(`<13>${"x".repeat(200_000)}\n<13>next\n`));
    assert.deepEqual([long?.bytes.length, long?.cut], [65_536, true]);
    assert.deepEqual([next?.bytes.toString(), next?.cut], ["<13>next", false]);
  });

  test("an invalid count ends a stream, and the rest of a broken connection is read", () => {
    for (const text of ["65537 <13>x", "12345678 <13>x", "12<13>x", "1x"]) {
      const frames = createFrames();
      assert.deepEqual([frames.push(Buffer.from(text)).length, frames.broken], [0, true], text);
      assert.deepEqual(frames.end(), []);
    }
    const left = (text: string) => {
      const frames = createFrames();
      frames.push(Buffer.from(text));
      return frames.end().map(({ bytes, cut }) => [bytes.toString(), cut]);
    };
    assert.deepEqual(left("<13>half"), [["<13>half", false]]);
    assert.deepEqual(left("20 <13>half"), [["<13>half", true]]);
    assert.deepEqual(left("half"), []);
  });
});
