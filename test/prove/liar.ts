/** Starts a box (the words that follow), but forgets the newest stored line first. */
import { existsSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";

const words = process.argv.slice(2);
const [program = ""] = words;
const data = words[words.indexOf("--data") + 1] ?? "";
const file = path.join(data, "box.db");
if (words.includes("serve") && existsSync(file)) {
  const db = new Database(file);
  db.exec("DELETE FROM log_lines WHERE id = (SELECT max(id) FROM log_lines)");
  db.close();
}
process.execve?.(program, words, process.env);
