import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArgs } from "node:util";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { dearBodies, fillers, packed } from "./bodies.ts";
import { type Blow, doorsOf, struckBox } from "./hour.ts";
import {
  GELF_SIZES,
  gelfBlows,
  mailBlow,
  mails,
  type Ports,
  portsOf,
  SYSLOG_SIZES,
  syslogBlows,
  syslogs,
} from "./ports.ts";

/** `node test/hostile/doors.deep.ts --minutes 60` is the hostile hour, half of it at the ports; among the deep tests it takes ten minutes. */
const { values } = parseArgs({ options: { minutes: { type: "string" } }, strict: false });
const minutes = Number(values.minutes ?? 10) / 2;

const SHORT = 30_000;
const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

test(`${minutes} min of bodies made to be dear, at each door`, async (t) => {
  const box = await struckBox();
  const faults: Error[] = [];
  let blows = 0;
  try {
    const doors = await doorsOf(box);
    const end = performance.now() + minutes * 60_000;
    for (; performance.now() < end; blows++) {
      const door = doors[blows % doors.length] ?? oneOf(doors);
      const { sent, inflated } = door.most;
      const bytes = oneOf([SHORT, SHORT, sent - 100, Math.floor(inflated * 0.96)]);
      const { what, make, type } = oneOf([...dearBodies(door.sample, bytes)]);
      const encoding = bytes > sent ? oneOf(["gzip", "zstd"] as const) : "identity";
      const body = packed(make(), encoding);
      const name = `${door.kind}${door.sample.path}, ${bytes} bytes: ${what}`;
      const strike = () => door.send(body, { type, encoding });
      await box.blow({ what: name, strike }).catch((error) => faults.push(error));
    }
    t.diagnostic(`${blows} requests, seed ${seed}`);
    for (const line of box.worst()) t.diagnostic(line);
  } finally {
    await box.stop();
  }
  assert.deepEqual(faults.map(String), []);
});

/** What strikes one port or two, as it is drawn. */
function atPorts(ports: Ports): Blow[] {
  const kind = oneOf(["syslog", "gelf", "smtp"] as const);
  if (kind === "smtp")
    return [mailBlow(ports, oneOf(Object.keys(mails)), oneOf([SHORT, 900_000, 9_000_000]))];
  if (kind === "gelf")
    return gelfBlows(ports, oneOf(Object.keys(fillers)), { bytes: oneOf(GELF_SIZES), oneOf });
  return syslogBlows(ports, oneOf(Object.keys(syslogs)), { bytes: oneOf(SYSLOG_SIZES), oneOf });
}

test(`${minutes} min of messages made to be dear, at each port`, async (t) => {
  const box = await struckBox();
  const faults: Error[] = [];
  let blows = 0;
  try {
    for (const source of [
      { name: "syslog", kind: "syslog", options: { logfmt: true } },
      { name: "gelf", kind: "gelf" },
      { name: "mail", kind: "email" },
    ])
      assert.ok((await box.api("POST", "/v1/projects/p/sources", source)).token, source.kind);
    const ports = portsOf(box);
    const end = performance.now() + minutes * 60_000;
    while (performance.now() < end)
      for (const blow of atPorts(ports)) {
        blows += 1;
        await box.blow(blow).catch((error) => faults.push(error));
      }
    t.diagnostic(`${blows} strikes, seed ${seed}`);
    for (const line of box.worst()) t.diagnostic(line);
  } finally {
    await box.stop();
  }
  assert.deepEqual(faults.map(String), []);
});
