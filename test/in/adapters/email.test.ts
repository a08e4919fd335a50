import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SourceOptions } from "../../../src/core/projects/source.ts";
import { type MailText, plainMail } from "../../../src/in/adapters/email/mail.ts";
import { readMime } from "../../../src/in/adapters/email/mime.ts";
import { stateOf } from "../../../src/in/adapters/email/subject.ts";
import { incomingMail } from "../../../src/in/adapters/email.ts";
import { mustBeUsable } from "../../../src/in/adapters/mapping/chosen.ts";
import fc, { anyCharacter } from "../../support/property.ts";
import { decodesCleanly, sent } from "./clean.ts";
import { attachedMail, cronMail, htmlMail, mdadmMail, upsMail } from "./mails.ts";
import { NO_END, SUBJECTS } from "./subjects.ts";

const decoded = (mail: Partial<MailText>, options: SourceOptions = {}) =>
  incomingMail.decode(sent(JSON.stringify(mail), { options }));

async function read(text: string, more: Partial<MailText> = {}, options: SourceOptions = {}) {
  const mail = { ...(await readMime(Buffer.from(text, "latin1"))), ...more };
  const [event] = decoded(mail, options).events;
  assert.ok(event);
  return event;
}

describe("a mail", () => {
  test("cron's: subject, text, who and which", async () => {
    const event = await read(cronMail());
    assert.deepEqual(
      [event.message, event.level, event.tags],
      ["Cron <root@web-01> /usr/local/bin/backup", 300, ["email"]],
    );
    assert.deepEqual(
      { ...event.keys },
      {
        from: "Cron Daemon <root@web-01.example.com>",
        to: "box+0123456789abcdef0123456789abcdef@box.example.com",
        message_id: "<20261120031501.1A2B3C@web-01.example.com>",
      },
    );
    assert.match(event.extra?.details ?? "", /^tar: \/data: file changed.*\nexit status 1$/);
    assert.equal(event.extra?.occurredAt, Date.UTC(2026, 10, 20, 2, 15, 1) / 1000);
  });

  test("mdadm's, without MIME and id: a state word inside a word counts", async () => {
    const event = await read(mdadmMail());
    assert.deepEqual(
      [event.message, event.level, event.keys?.["from"]],
      ["DegradedArray event on /dev/md0:nas-02", 400, "mdadm monitoring <root@nas-02>"],
    );
  });

  test("encoded words and Latin-1", async () => {
    const event = await read(upsMail());
    assert.equal(event.message, "Stromausfall im Büro");
    assert.equal(event.keys?.["from"], "USV Büro <ups@example.com>");
    assert.match(event.extra?.details ?? "", /87 %\r?\nBüro 2/);
  });

  test("a charset that isn't said, or is said to be ASCII", async () => {
    const said = (charset: string) =>
      `Subject: St\u00f6rung\r\nContent-Type: text/plain${charset}\r\n`;
    const text = async (bytes: Buffer) => {
      const { subject, text } = await readMime(bytes);
      return [subject, text];
    };
    for (const [charset, encoding] of [
      ["", "utf8"],
      ["", "latin1"],
      ["; charset=iso-8859-1", "latin1"],
      // Cron's charset in the locale C, whatever its jobs write.
      ["; charset=US-ASCII", "utf8"],
      ["; charset=ANSI_X3.4-1968", "utf8"],
      ['; charset="us-ascii"', "latin1"],
    ] as const)
      assert.deepEqual(
        await text(Buffer.from(`${said(charset)}\r\nB\u00fcro 2`, encoding)),
        ["St\u00f6rung", "B\u00fcro 2"],
        `${charset} ${encoding}`,
      );
  });

  test("a mail without a header is all text", async () => {
    const event = await read("/dev/sda is about to fail\r\n\r\nReplace it.\r\n");
    assert.equal(event.message, "/dev/sda is about to fail");
    assert.match(event.extra?.details ?? "", /^\/dev\/sda is about to fail\s+Replace it\.$/);
  });

  test("only HTML: its text is what a reader sees", async () => {
    const event = await read(htmlMail());
    assert.equal(event.message, "[FIRING:2] (HostDown critical)");
    assert.equal(event.level, 400);
    const details = event.extra?.details ?? "";
    assert.match(
      details,
      /HostDown\ninstance = web-01:9100[\s\S]*HostDown\ninstance = web-02:9100/,
    );
    assert.doesNotMatch(details, /color|<|no/);
  });

  test("attachments and images are counted; a high priority fires", async () => {
    const event = await read(attachedMail());
    const { keys, level } = event;
    assert.deepEqual([keys?.["images"], keys?.["attachments"], level], ["2", "1", 400]);
    assert.equal(event.extra?.details, "See the pictures.");
  });

  test("levels: priority, importance, words of the subject", () => {
    const level = (mail: Partial<MailText>) => decoded(mail).events[0]?.level;
    assert.equal(level({ subject: "web DOWN" }), 400);
    assert.equal(level({ subject: "Backup failed" }), 400);
    assert.equal(level({ subject: "WARNING: disk" }), 300);
    assert.equal(level({ subject: "SMART error (FailedOpenDevice) detected on host: nas" }), 400);
    assert.equal(level({ subject: "SMART error (SelfTest) detected on host: nas" }), 400);
    assert.equal(level({ subject: "Fail event on /dev/md0:nas-02" }), 400);
    assert.equal(level({ subject: 'ALARM: "HighCPU" in EU (Ireland)' }), 400);
    assert.equal(level({ subject: "[shop] [🔴 timeout]" }), 400);
    assert.equal(level({ subject: "Backup done, no error" }), 300);
    assert.equal(level({ subject: "Report" }), 300);
    assert.equal(level({ subject: "Report", importance: "High" }), 400);
    assert.equal(level({ subject: "Report", x_priority: "2" }), 400);
    assert.equal(level({ subject: "Report", x_priority: "3 (Normal)" }), 300);
  });

  test("without a subject its first line is the message; without both it is still an event", () => {
    assert.equal(decoded({ text: "disk full\nmore" }).events[0]?.message, "disk full");
    assert.equal(decoded({}).events[0]?.message, "(no subject)");
  });

  test("bounces and automatic replies are accepted and make no event", () => {
    const { events, rejected } = decoded({ subject: "Undelivered", is_bounce: true });
    assert.deepEqual([events.length, rejected.length], [0, 1]);
    assert.equal(decoded({ auto_submitted: "auto-replied (vacation)" }).events.length, 0);
    assert.equal(decoded({ auto_submitted: "auto-generated" }).events.length, 1);
  });

  test("the same mail has the same id, and another mail with that Message-ID another", () => {
    const id = (mail: Partial<MailText>) => decoded(mail).ids?.[0];
    const mail = { message_id: "<1@x>", subject: "a", text: "b" };
    assert.equal(id(mail), id({ ...mail, to: "somebody else" }));
    assert.notEqual(id(mail), id({ ...mail, text: "c" }));
    assert.equal(id({ subject: "a" }), null);
  });

  test("a source's mail_rules decide", () => {
    const mail_rules: SourceOptions["mail_rules"] = [
      { subject_contains: "power has RETURNED", action: "resolve", dedup: "none" },
      { subject_contains: "report", level: 100, dedup: "subject" },
      { subject_contains: "power", level: 500 },
    ];
    const event = (subject: string) => decoded({ subject }, { mail_rules }).events[0];
    assert.deepEqual(
      [event("Power has returned")?.named?.action, event("Power has returned")?.named?.dedupKey],
      ["resolve", null],
    );
    assert.equal(event("Daily Report: DOWN")?.level, 100);
    assert.notEqual(event("report OK")?.named?.dedupKey, event("report FAILED")?.named?.dedupKey);
    assert.equal(event("Power failure")?.level, 500);
  });

  test("senders with their own words for the end are read by a preset", () => {
    const event = (subject: string, preset: string) =>
      decoded({ subject }, { mail_rules: preset }).events[0]?.named;
    for (const [preset, fires, ends] of [
      ["monit", "monit alert --  Does not exist nginx", "monit alert --  Exists nginx"],
      [
        "monit",
        "monit alert --  Connection failed nginx",
        "monit alert --  Connection succeeded nginx",
      ],
      [
        "monit",
        "monit alert --  Resource limit matched db",
        "monit alert --  Resource limit succeeded db",
      ],
      ["monit", "monit alert --  Link down eth0", "monit alert --  Link up eth0"],
      ["apcupsd", "nas UPS smart Power Failure !!!", "nas UPS smart Power has returned"],
      ["nut", "UPS ups@localhost on battery", "UPS ups@localhost on line power"],
      ["netdata", "db is critical - disk - disk._", "db recovered - disk - disk._"],
      ["netdata", "db needs attention - disk - disk._", "db recovered - disk - disk._"],
      [
        "proxmox",
        "vzdump backup status (pve) : backup failed",
        "vzdump backup status (pve) : backup successful",
      ],
    ] as const) {
      const [begun, ended] = [event(fires, preset), event(ends, preset)];
      assert.deepEqual([begun?.action, ended?.action], ["fire", "resolve"], ends);
      assert.equal(begun?.dedupKey, ended?.dedupKey, ends);
    }
    const one = event("monit alert --  Does not exist nginx", "monit");
    const another = event("monit alert --  Connection succeeded nginx", "monit");
    assert.notEqual(one?.dedupKey, another?.dedupKey);
    assert.throws(
      () => mustBeUsable("email", { mail_rules: "pigeon" }),
      /mail_rules: must be a list/,
    );
    mustBeUsable("email", { mail_rules: "monit" });
  });

  test("a text that is too long is cut, and a key says so", () => {
    const event = decoded({ subject: "a", text: "x".repeat(40_000) }).events[0];
    assert.equal(event?.extra?.details?.length, 32_768);
    assert.equal(event?.keys?.["box.cut"], "details");
  });
});

describe("a subject's state", () => {
  for (const { sender, fires, ends = [], acknowledges = [] } of SUBJECTS)
    test(sender, () => {
      const expected = [
        ...fires.map((subject) => [subject, "fire"]),
        ...ends.map((subject) => [subject, "resolve"]),
        ...acknowledges.map((subject) => [subject, "acknowledge"]),
      ];
      const said = expected.map(([subject = ""]) => [subject, stateOf(subject).action]);
      assert.deepEqual(said, expected);
      const names = new Set(expected.map(([subject = ""]) => stateOf(subject).name));
      assert.equal(names.size, 1, [...names].join(" | "));
    });

  test("with doubt it fires", () => {
    const ended = NO_END.filter((subject) => stateOf(subject).action !== "fire");
    assert.deepEqual(ended, []);
  });

  test("other brackets are part of the name: they often hold the host", () => {
    assert.notEqual(stateOf("[web-01] DOWN").name, stateOf("[web-02] DOWN").name);
    assert.equal(stateOf("** ACKNOWLEDGEMENT Host Alert: web is DOWN **").action, "acknowledge");
  });

  test("any subject gets a state, quickly", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 3000 }), (text) => {
        assert.ok(["fire", "resolve", "acknowledge"].includes(stateOf(text).action));
      }),
    );
    const start = performance.now();
    for (const piece of ["[", "OK ", "is OK ", "[OK ", "-> UP", " ", "Re: ", "DOWN:1 "])
      stateOf(piece.repeat(100_000));
    assert.ok(performance.now() - start < 1000);
  });
});

const text = fc.string({ unit: anyCharacter, maxLength: 200 });
const anyMail = fc.record(
  {
    from: text,
    to: text,
    subject: text,
    message_id: text,
    date: text,
    text,
    x_priority: text,
    importance: text,
    auto_submitted: text,
    attachments: fc.anything(),
    images: fc.anything(),
    is_bounce: fc.anything(),
  },
  { requiredKeys: [] },
);

test("decode throws nothing but refusals, for any mail", () => {
  fc.assert(
    fc.property(anyMail, (mail) => {
      const body = JSON.stringify(mail, (_, value) => (typeof value === "bigint" ? 1 : value));
      decodesCleanly(incomingMail, sent(body));
    }),
  );
});

test("any bytes are read as a mail or refused, and can always be read line by line", async () => {
  const sample = fc.constantFrom(cronMail(), mdadmMail(), upsMail(), htmlMail(), attachedMail());
  await fc.assert(
    fc.asyncProperty(
      sample,
      fc.nat(2000),
      fc.uint8Array({ maxLength: 40 }),
      async (whole, at, noise) => {
        const bytes = Buffer.from(whole);
        const bent = Buffer.concat([
          bytes.subarray(0, at),
          noise,
          bytes.subarray(at + noise.length),
        ]);
        const mail = await readMime(bent).catch(() => plainMail(bent));
        for (const one of [mail, plainMail(bent)])
          decodesCleanly(incomingMail, sent(JSON.stringify(one)));
      },
    ),
  );
});
