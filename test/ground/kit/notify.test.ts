import assert from "node:assert/strict";
import ffi from "node:ffi";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { createNotifier, unixAddress, watchdogSpan } from "../../../src/ground/kit/notify.ts";
import { handClock } from "../../support/clock.ts";

const folder = mkdtempSync(path.join(tmpdir(), "box-notify-"));
after(() => rmSync(folder, { recursive: true }));

/** A service manager's end of the socket. `heard` takes what has arrived by now. */
function manager(name: string): { heard(): string[] } {
  const { functions: libc } = ffi.dlopen(null, {
    socket: { arguments: ["int32", "int32", "int32"], return: "int32" },
    bind: { arguments: ["int32", "buffer", "uint32"], return: "int32" },
    recv: { arguments: ["int32", "buffer", "uint64", "int32"], return: "int64" },
  });
  const address = unixAddress(name);
  assert.ok(address);
  const descriptor = libc.socket(1, 2, 0);
  assert.equal(libc.bind(descriptor, address, address.length), 0);
  const space = Buffer.alloc(4096);
  return {
    heard() {
      const messages: string[] = [];
      for (;;) {
        const length = Number(libc.recv(descriptor, space, 4096n, 0x40));
        if (length <= 0) return messages;
        messages.push(space.toString("utf8", 0, length));
      }
    },
  };
}

test("each message arrives as one datagram, at a path or an abstract name", async () => {
  for (const name of [path.join(folder, "notify"), `@box-notify-${process.pid}`]) {
    const { heard } = manager(name);
    const notifier = await createNotifier({ NOTIFY_SOCKET: name });
    assert.equal(notifier.way, "socket");
    notifier.ready();
    notifier.status("two\nlines");
    notifier.stopping();
    assert.deepEqual(heard(), ["READY=1", "STATUS=two lines", "STOPPING=1"]);
  }
});

test("without a manager nothing happens, and one that is gone does no harm", async () => {
  const alone = await createNotifier({});
  assert.equal(alone.way, "none");
  alone.ready();
  const clock = handClock();
  alone.watch(clock, () => true);
  assert.equal(clock.timers(), 0);

  const orphan = await createNotifier({ NOTIFY_SOCKET: path.join(folder, "gone") });
  orphan.ready();
});

test("a name that is no address falls back to the command", async () => {
  const long = await createNotifier({ NOTIFY_SOCKET: `/${"x".repeat(107)}` });
  assert.equal(long.way, "command");
  assert.equal(unixAddress("relative"), null);
  assert.equal(unixAddress(`/${"x".repeat(106)}`)?.length, 2 + 107 + 1);
});

test("the watchdog is fed three times a span while all is well, and not otherwise", async () => {
  const name = path.join(folder, "watchdog");
  const { heard } = manager(name);
  const clock = handClock();
  const env = { NOTIFY_SOCKET: name, WATCHDOG_USEC: "60000000", WATCHDOG_PID: `${process.pid}` };
  const notifier = await createNotifier(env);
  let state: "well" | "stuck" | "broken" = "well";
  const end = notifier.watch(clock, () => {
    if (state === "broken") throw new Error("the store doesn't answer");
    return state === "well";
  });
  await clock.turn(0);
  await clock.turn(60_000);
  assert.deepEqual(heard(), Array(4).fill("WATCHDOG=1"));
  for (const ill of ["stuck", "broken"] as const) {
    state = ill;
    await clock.turn(60_000);
    assert.deepEqual(heard(), [], ill);
  }
  state = "well";
  await clock.turn(20_000);
  assert.deepEqual(heard(), ["WATCHDOG=1"]);
  end();
  assert.equal(clock.timers(), 0);
});

test("more time to stop is asked for until it is over", async () => {
  const name = path.join(folder, "extend");
  const { heard } = manager(name);
  const clock = handClock();
  const notifier = await createNotifier({ NOTIFY_SOCKET: name });
  const end = notifier.extend(clock);
  await clock.turn(20_000);
  assert.deepEqual(heard(), Array(3).fill("EXTEND_TIMEOUT_USEC=30000000"));
  end();
  await clock.turn(60_000);
  assert.deepEqual(heard(), []);
});

test("a watchdog for another process, or none, isn't fed", () => {
  assert.equal(watchdogSpan({ WATCHDOG_USEC: "30000000" }), 30_000);
  assert.equal(watchdogSpan({ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }), null);
  assert.equal(watchdogSpan({}), null);
  assert.equal(watchdogSpan({ WATCHDOG_USEC: "soon" }), null);
});
