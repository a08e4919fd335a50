import { type Migration, migrations } from "../../../src/ground/store/migrations.ts";

const head = migrations("box").length;

/** Two migrations that a later program might have, with `between` among their statements. */
export function laterWith(between: string): Migration[] {
  const inserts = Array.from({ length: 20 }, (_, i) => {
    const row = `INSERT INTO later (a) VALUES ('row ${i}');`;
    return i % 4 === 0 ? between + row : row;
  }).join("\n");
  return [
    ...migrations("box"),
    {
      number: head + 1,
      name: "9001_later",
      sql: `CREATE TABLE later (id INTEGER PRIMARY KEY, a TEXT NOT NULL) STRICT;\n${inserts}`,
    },
    {
      number: head + 2,
      name: "9002_later",
      sql: `ALTER TABLE projects ADD COLUMN colour TEXT;\nUPDATE projects SET colour = 'red';\n${inserts}`,
    },
  ];
}

export const later: Migration[] = laterWith("");
