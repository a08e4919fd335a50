/**
 * `writer.ts DIRECTORY SYNCHRONOUS`: the positive control. Commits 200 rows one by one into a database of
 * its own under the given setting and says so after each. With less than FULL the replay has to find
 * what that costs, or it would find nothing in a box either.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { ackRecord } from "./recording.ts";

const [directory = "", synchronous = ""] = process.argv.slice(2);
const log = process.env["PC_LOG"] ?? "";
const db = new Database(join(directory, "box.db"));
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${synchronous}`);
db.pragma("wal_autocheckpoint = 60");
db.exec("CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT)");
const insert = db.prepare("INSERT INTO rows VALUES (?, ?)");
for (let n = 1; n <= 200; n++) {
  insert.run(n, "x".repeat(200 + (n % 7) * 300));
  appendFileSync(log, ackRecord(String(n)));
}
