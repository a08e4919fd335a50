/** `upgrade.ts DIRECTORY old|new`: a store of today's schema with some rows; then what a later program does to it. */
import { join } from "node:path";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { later } from "../ground/store/later.ts";

const [directory = "", age = ""] = process.argv.slice(2);
const store = openStore({
  path: join(directory, "box.db"),
  kind: "box",
  clock: systemClock,
  random: systemRandom,
  ...(age === "new" ? { migrations: later } : {}),
});
if (age === "old") {
  const insert = "INSERT INTO projects (name, version, created_at) VALUES (?, 1, 1)";
  for (let n = 0; n < 40; n++)
    store.write((tx) => tx.sql(insert).run(`project ${n} ${"x".repeat(500)}`));
}
store.close();
