import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { parseArgs } from "node:util";
import type { Held } from "./box.ts";
import { startLoad } from "./load.ts";

/** `node test/soak/soak.deep.ts --minutes 60`: among the deep tests it takes one minute. */
const { values } = parseArgs({ options: { minutes: { type: "string" } }, strict: false });
const minutes = Number(values.minutes ?? 1);
const MiB = 1024 * 1024;

/** The least-squares slope, in MiB an hour. */
function slope(
  samples: readonly { at: number; held: Held }[],
  bytes: (held: Held) => number,
): number {
  const mean = (of: (sample: { at: number; held: Held }) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [t, h] = [mean(({ at }) => at), mean(({ held }) => bytes(held))];
  const top = mean(({ at, held }) => (at - t) * (bytes(held) - h));
  const bottom = mean(({ at }) => (at - t) ** 2);
  return (top / bottom / MiB) * 3_600_000;
}

test(`${minutes} min under a mixed load: heap, files, handles and log stay flat`, async (t) => {
  const child = fork(join(import.meta.dirname, "box.ts"), [], { execArgv: ["--expose-gc"] });
  const [where] = (await once(child, "message")) as [{ port: number; key: string; token: string }];
  const load = await startLoad(where, 200);
  const ask = async () => {
    child.send("held");
    const [said] = (await once(child, "message")) as [{ held: Held; errors: string[] }];
    assert.deepEqual(said.errors, []);
    return said.held;
  };
  const samples: { at: number; held: Held }[] = [];
  const warm = minutes >= 30 ? 600_000 : (minutes * 60_000) / 3;
  const every = Math.max(2000, (minutes * 60_000) / 120);
  const started = performance.now();
  while (performance.now() - started < minutes * 60_000) {
    await new Promise((resolve) => setTimeout(resolve, every));
    const at = performance.now() - started;
    const held = await ask();
    if (at >= warm) samples.push({ at, held });
  }
  await load.stop();
  child.send("stop");
  await once(child, "exit");

  const [first, last] = [samples[0]?.held, samples.at(-1)?.held];
  assert.ok(first && last);
  const perHour = slope(samples, ({ heap }) => heap);
  const range = (of: (held: Held) => number) => {
    const all = samples.map(({ held }) => of(held));
    return `${Math.min(...all)}–${Math.max(...all)}`;
  };
  const wal = Math.max(...samples.map(({ held }) => held.wal));
  t.diagnostic(`answers: ${JSON.stringify(load.byStatus)}`);
  t.diagnostic(
    `heap ${(first.heap / MiB).toFixed(1)} → ${(last.heap / MiB).toFixed(1)} MiB, ${perHour.toFixed(2)} MiB/h; without the engine's code ${slope(samples, ({ heap, code }) => heap - code).toFixed(2)} MiB/h`,
  );
  t.diagnostic(
    `rss ${range(({ rss }) => Math.round(rss / MiB))} MiB, files ${range(({ files }) => files)}, handles ${range(({ handles }) => handles)}, log ≤ ${(wal / MiB).toFixed(1)} MiB`,
  );
  // A minute is too short for a slope: there only a leak that shows at once is one.
  if (minutes >= 30) assert.ok(perHour <= 0.5, `${perHour} MiB an hour`);
  else assert.ok(last.heap - first.heap <= 8 * MiB, `${(last.heap - first.heap) / MiB} MiB more`);
  assert.ok(last.files <= first.files + 10 && last.handles <= first.handles + 20);
  assert.ok(wal <= 64 * MiB);
  assert.equal(load.byStatus[500] ?? 0, 0);
  assert.ok((load.byStatus[202] ?? 0) > minutes * 60 * 20, "enough was asked of it");
});
