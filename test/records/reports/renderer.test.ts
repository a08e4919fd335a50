import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { after } from "node:test";
import type { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { type Clock, systemClock } from "../../../src/ground/kit/clock.ts";
import type { ServiceError } from "../../../src/ground/kit/errors.ts";
import { createRenderer } from "../../../src/records/reports/renderer.ts";
import { long, test } from "../../support/long.ts";

const FULL = 65_536;

const workerFile = () => new URL("../../../src/records/reports/render-worker.ts", import.meta.url);

function filled(piece: string): string {
  return piece.repeat(Math.ceil(FULL / piece.length)).slice(0, FULL);
}

/** Whatever isn't about time has as long as a busy machine needs. */
const patient: Clock = { ...systemClock, after: () => () => {} };

function started(options: Partial<Parameters<typeof createRenderer>[0]> = {}) {
  const renderer = createRenderer({ source: workerFile(), clock: patient, ...options });
  after(() => renderer.close());
  return renderer;
}

/** A clock whose timers only fire by hand. */
function handClock() {
  const timers = new Set<{ ms: number; fn: () => void }>();
  const clock: Clock = {
    ...systemClock,
    after(ms, fn) {
      const timer = { ms, fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const fire = (ms: number) => {
    const due = [...timers].filter((timer) => timer.ms === ms);
    for (const timer of due) {
      timers.delete(timer);
      timer.fn();
    }
    return due.length;
  };
  /** Resolves once a timer of this length runs. */
  const set = async (ms: number) => {
    while (![...timers].some((timer) => timer.ms === ms)) await new Promise(setImmediate);
  };
  return { clock, timers, fire, set };
}

const code = (expected: string) => (error: ServiceError) => error.code === expected;

test("it renders off this thread, in the order asked", async () => {
  const renderer = started();
  assert.deepEqual(await Promise.all([renderer.render("*a*"), renderer.render("<b>b</b>")]), [
    "<p><em>a</em></p>",
    "<p>b</p>",
  ]);
});

long("what takes too long is refused at the deadline, and this thread never waits", async (t) => {
  // Far less than any of them takes on a quick machine. What is harmless has as long as a busy one needs.
  let deadlineMs = 30_000;
  const after: Clock["after"] = (_ms, fn) => systemClock.after(deadlineMs, fn);
  const renderer = started({ clock: { ...systemClock, after } });
  await renderer.render("warm");
  let ticks = 0;
  const ticker = setInterval(() => {
    ticks += 1;
  }, 10);
  t.after(() => clearInterval(ticker));
  for (const piece of ["a\n=\n", "a**b", "> > >"]) {
    // A new thread has begun.
    deadlineMs = 30_000;
    await renderer.render("warm");
    ticks = 0;
    const begun = performance.now();
    deadlineMs = 600;
    await assert.rejects(renderer.render(filled(piece)), code("content_too_complex"), piece);
    const took = performance.now() - begun;
    // Undisturbed, the first takes half a minute, in which nothing would tick.
    assert.ok(took < 15_000, `${piece}: ${took} ms`);
    assert.ok(ticks > 5, `${piece}: ${ticks} ticks in ${took} ms`);
  }
  deadlineMs = 30_000;
  assert.equal(await renderer.render("still *here*"), "<p>still <em>here</em></p>");
});

test("the deadline is the clock's, and the next text gets a new thread", async () => {
  const { clock, fire, set } = handClock();
  const renderer = started({ clock, deadlineMs: 77 });
  await renderer.render("warm");
  const endless = renderer.render(filled("a\n=\n"));
  let isOver = false;
  const refused = assert.rejects(endless, code("content_too_complex")).finally(() => {
    isOver = true;
  });
  await set(77);
  // It is given more of them while it had no core.
  for (let fired = 0; !isOver; await new Promise((resolve) => setImmediate(resolve))) {
    fired += fire(77);
    assert.ok(fired <= 5);
  }
  await refused;
  assert.equal(await renderer.render("b"), "<p>b</p>");
});

long("what needs too much memory is refused, and the process lives", async () => {
  const renderer = started({ heapMb: 24 });
  await assert.rejects(renderer.render(filled("1. a\n")), code("content_too_complex"));
});

test("HTML over 1 MiB is refused", async () => {
  const renderer = started({ heapMb: 256 });
  await assert.rejects(renderer.render("&".repeat(210_000)), code("content_too_complex"));
  assert.ok((await renderer.render("&".repeat(200_000))).length > 1_000_000);
});

test("one text too many waiting is refused at once", async () => {
  const renderer = started({ longestQueue: 2 });
  const taken = ["a", "b", "c"].map((text) => renderer.render(text));
  await assert.rejects(renderer.render("d"), code("overloaded"));
  assert.deepEqual(await Promise.all(taken), ["<p>a</p>", "<p>b</p>", "<p>c</p>"]);
  assert.equal(await renderer.render("e"), "<p>e</p>");
});

test("closing refuses what waits and what comes, and leaves no timer", async () => {
  const { clock, timers, set } = handClock();
  const renderer = createRenderer({ source: workerFile(), clock, deadlineMs: 77 });
  const waiting = [renderer.render(filled("a\n=\n")), renderer.render("b")];
  const refused = Promise.all(waiting.map((it) => assert.rejects(it, code("overloaded"))));
  await set(77);
  await renderer.close();
  await refused;
  await assert.rejects(renderer.render("c"), code("overloaded"));
  assert.equal(timers.size, 0);
});

long("an idle thread is ended, and the next text starts another", async () => {
  const { clock, fire } = handClock();
  const renderer = started({ clock });
  await renderer.render("a");
  assert.equal(fire(60_000), 1);
  assert.equal(await renderer.render("b"), "<p>b</p>");
});

test("code that doesn't start is an error, no refusal, and doesn't end the process", async () => {
  const renderer = started({ source: { code: "throw new Error('no such part')" } });
  await assert.rejects(renderer.render("a"), /did not start: no such part/);
});

test("a thread that dies between two texts takes nothing with it", async () => {
  const mortal = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", ({ markdown }) => {
      if (markdown === "die") throw new Error("dead");
      parentPort.postMessage({ html: markdown });
    });
    parentPort.postMessage("ready");`;
  const made = once(process, "worker");
  const renderer = started({ source: { code: mortal } });
  assert.equal(await renderer.render("a"), "a");
  const [worker] = (await made) as [Worker];
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.postMessage({ markdown: "die" });
  await ended;
  assert.equal(await renderer.render("b"), "b");
});

long("it runs from one bundled text, as inside a single executable", async () => {
  const { outputFiles } = await build({
    entryPoints: [workerFile().pathname],
    bundle: true,
    platform: "node",
    format: "cjs",
    write: false,
  });
  const renderer = started({ source: { code: outputFiles[0]?.text ?? "" } });
  assert.equal(await renderer.render("# a"), "<h4>a</h4>");
});

/** How nice each thread of this process is (proc(5), stat, field 19). */
function niceness(): number[] {
  return readdirSync("/proc/self/task").map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

test("its thread steps back, and no other", { skip: process.platform !== "linux" }, async () => {
  const renderer = started();
  const others = niceness().filter((nice) => nice === 5).length;
  await renderer.render("a");
  assert.equal(niceness().filter((nice) => nice === 5).length, others + 1);
});
