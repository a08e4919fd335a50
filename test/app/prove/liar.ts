/** Starts a box (the words that follow), but forgets a line in the middle of the stored ones first. */
import { existsSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";

const words = process.argv.slice(2);
const [program = ""] = words;
const data = words[words.indexOf("--data") + 1] ?? "";
const file = path.join(data, "box.db");
if (words.includes("serve") && existsSync(file)) {
  const db = new Database(file);
  // The newest may be one whose answer never went out.
  const middle = "ORDER BY id LIMIT 1 OFFSET (SELECT count(*) / 2 FROM log_lines)";
  db.exec(`DELETE FROM log_lines WHERE id = (SELECT id FROM log_lines ${middle})`);
  db.close();
}
process.execve?.(program, words, process.env);
