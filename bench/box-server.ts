import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../src/ground/kit/clock.ts";
import { testBox } from "../test/support/box.ts";

/** A box for the benchmarks: 20 rules of every sort, one project; prints its address, an ingest token, a key and its directory. */
if (process.argv[4] === "uncounted") leaveOutMinutes();
const rules = Number(process.argv[2] ?? 20);
const retain = process.argv[3] !== "unretained";
// On the disk, which is part of what is measured.
const data = process.env["BOX_BENCH_DATA"] ?? mkdtempSync(join(tmpdir(), "box-bench-"));
/** Where its commits have to be as well. */
const database = process.env["BOX_BENCH_DATABASE"];
const box = await testBox(
  { data, ...(database && { database, publicUrl: "http://127.0.0.1" }) },
  systemClock as never,
);
const token = await box.project("bench", { retain_logs: retain });
for (let i = 0; i < rules; i++) {
  await box.api("POST", "/v1/projects/bench/rules", {
    name: `rule ${i}`,
    match: {
      min_level: 300 + (i % 3) * 100,
      ...(i % 2 === 1 ? { tags: ["auth"] } : {}),
      ...(i % 3 === 0 ? { template_contains: "failed" } : {}),
    },
    ...(i % 5 === 0 ? { identifier_keys: ["region"] } : {}),
    fire_after: { count: 2 + i, window_minutes: 5 },
  });
}
process.stdout.write(`${box.url} ${token} ${box.owner.key} ${box.data}\n`);
process.once("SIGTERM", () => void box.stop().then(() => process.exit(0)));

/** What counts events by the minute does nothing: the yardstick of what that costs. */
function leaveOutMinutes(): void {
  const { prepare } = Database.prototype;
  const nothing = "UPDATE meta SET value = value WHERE key = ? AND ? + ? IS NULL";
  Database.prototype.prepare = function (this: Database.Database, text: string) {
    const isMinutes = text.startsWith("INSERT INTO alert_minutes (alert_id, slot, n) VALUES");
    return prepare.call(this, isMinutes ? nothing : text);
  } as typeof prepare;
}
