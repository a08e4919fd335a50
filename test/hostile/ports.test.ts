import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, before, describe, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { fillers } from "./bodies.ts";
import { type Struck, struckBox } from "./hour.ts";
import {
  GELF_SIZES,
  gelfBlows,
  KIB,
  mailBlow,
  mails,
  type Ports,
  portsOf,
  SYSLOG_SIZES,
  syslogBlows,
  syslogs,
} from "./ports.ts";

/** The ports beside HTTP's, struck with what is made to be dear to them. */

let box: Struck;
let ports: Ports;

/** A box of its own for the tests beside it: what it held at its beginning is what it is measured by. */
function aBoxWith(source: { name: string; kind: string; options?: object }): void {
  before(async () => {
    box = await struckBox();
    ports = portsOf(box);
    assert.ok((await box.api("POST", "/v1/projects/p/sources", source)).token, source.kind);
  });
  after((t) => {
    for (const line of box.worst()) (t as TestContext).diagnostic(line);
    return box.stop();
  });
}

const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
/** Two of a table, others with another seed. */
const someOf = <T>(table: Readonly<Record<string, T>>): [string, T][] => {
  const rest = Object.entries(table);
  return Array.from({ length: 2 }, () => rest.splice(Math.floor(random() * rest.length), 1)).flat();
};
describe("syslog", () => {
  aBoxWith({ name: "syslog", kind: "syslog", options: { logfmt: true } });

  for (const line of ["a\n", "a\0", "\n", "1 a", "<11>a\n", "<11>1 - - a - - -\n", "a=1 b={}\n"])
    test(`a chunk's worth of ${JSON.stringify(line)}, many times`, async () => {
      const count = Math.floor((192 * KIB) / line.length);
      const messages = line === "\n" ? 0 : count;
      const strike = () => ports.stream("syslog-tcp", Buffer.from(line.repeat(count)), messages);
      await box.blow({ what: `syslog-tcp ${JSON.stringify(line)}`, strike });
    });

  for (const [what] of someOf(syslogs))
    test(what, async () => {
      for (const blow of syslogBlows(ports, what, { bytes: oneOf(SYSLOG_SIZES), oneOf }))
        await box.blow({ ...blow, what: `${blow.what} (seed ${seed})` });
    });
});

describe("GELF", () => {
  aBoxWith({ name: "gelf", kind: "gelf" });

  for (const [what] of someOf(fillers))
    test(what, async () => {
      for (const blow of gelfBlows(ports, what, { bytes: oneOf(GELF_SIZES), oneOf }))
        await box.blow({ ...blow, what: `${blow.what} (seed ${seed})` });
    });

  for (const one of ["{}\0", "a\0", '{"short_message":"x"}\0'])
    test(`a chunk's worth of ${JSON.stringify(one)}`, async () => {
      const count = Math.floor((192 * KIB) / one.length);
      const strike = () => ports.stream("gelf-tcp", Buffer.from(one.repeat(count)), count);
      await box.blow({ what: `gelf-tcp ${JSON.stringify(one)}`, strike });
    });

  test("a datagram that inflates beyond all measure", async () => {
    const bomb = gzipSync(Buffer.alloc(40 * KIB * KIB));
    await box.blow({ what: "gelf-udp bomb", strike: () => ports.datagrams("gelf-udp", bomb, 32) });
  });

  test("parts of messages that never come to an end", async () => {
    const socket = createSocket("udp4");
    const { host, port } = ports.portOf("gelf-udp");
    const strike = async () => {
      for (let i = 0; i < 3000; i++) {
        const part = Buffer.alloc(1400, 97);
        part.writeUInt16BE(0x1e0f, 0);
        part.writeUInt32BE(i, 4);
        [part[10], part[11]] = [0, 128];
        await new Promise<void>((done) => socket.send(part, port, host, () => done()));
      }
      return ports.datagrams("gelf-udp", Buffer.from('{"short_message":"x"}'), 1);
    };
    await box.blow({ what: "gelf-udp parts", strike });
    socket.close();
  });
});

describe("mail", () => {
  aBoxWith({ name: "mail", kind: "email" });

  for (const [what] of someOf(mails))
    test(what, async () => {
      const start = await ports.told("smtp");
      await box.blow(mailBlow(ports, what));
      assert.ok((await ports.told("smtp")) > start, "it came to something");
    });
});
