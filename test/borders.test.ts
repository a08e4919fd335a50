import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { functionLength, functionLengths } from "./support/function-length.ts";
import {
  borders,
  circles,
  LONG_FILE,
  length,
  packages,
  reservedNames,
  screensApart,
  shapes,
  sharedNames,
  wings,
} from "./support/laws.ts";
import { readSource, readTexts, readTree } from "./support/source.ts";
import {
  alertRows,
  asking,
  boxTables,
  drizzleTables,
  tablesOf,
  typedSql,
  writersIn,
} from "./support/table-laws.ts";

const root = join(import.meta.dirname, "..");
const tree = readTree(["src", "cli"]);

test("the tree is read", () => {
  assert.ok(tree.length > 10);
  assert.ok(tree.some(({ imports }) => imports.length > 0));
});

test("each folder imports only from the folders below it", () => {
  assert.deepEqual(tree.flatMap(borders), []);
});

test("the table of wings is the tree", () => {
  const folders = (of: string) =>
    readdirSync(join(root, of), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  assert.deepEqual(folders("src").sort(), Object.keys(wings).sort());
  for (const [wing, inner] of Object.entries(wings))
    if (inner.length > 0) assert.deepEqual(folders(`src/${wing}`).sort(), [...inner].sort());
});

test("no files import each other in a circle", () => {
  assert.deepEqual(circles(tree), []);
});

test("whatever is exported is named in another file, too", () => {
  const files = new Map<string, number>();
  const others = readTexts(["test", "docs", "bench", "migrations"]);
  for (const { text } of [...tree, ...others])
    for (const name of new Set(text.match(/[\w$]+/g))) files.set(name, (files.get(name) ?? 0) + 1);
  const own = tree.flatMap(({ file, exports }) =>
    exports.filter((name) => files.get(name) === 1).map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(own, []);
});

test("a circle is seen whatever its length, types included, and told once", () => {
  const file = (name: string, ...needs: string[]) =>
    readSource(
      `src/ground/kit/${name}.ts`,
      needs.map((need) => `import type { A } from "./${need}.ts";`).join("\n"),
    );
  const ring = [file("a", "b"), file("b", "c", "d"), file("c", "a"), file("d"), file("e", "e")];
  assert.deepEqual(circles(ring), [
    "src/ground/kit/a.ts ↔ src/ground/kit/b.ts ↔ src/ground/kit/c.ts",
    "src/ground/kit/e.ts",
  ]);
  const late = readSource("src/ground/kit/d.ts", 'const a = await import("./b.ts"); use(a);');
  assert.deepEqual(circles([file("b", "d"), late]), ["src/ground/kit/b.ts ↔ src/ground/kit/d.ts"]);
  assert.deepEqual(circles([file("a", "b", "d"), file("b", "d"), file("d")]), []);
});

test("screens of the console share only what lies in its ui", () => {
  assert.deepEqual(tree.flatMap(screensApart), []);
  const faults = (file: string, name: string) =>
    screensApart(readSource(`src/web/console/${file}`, `import "${name}";`));
  assert.equal(faults("rules/list.ts", "../alerts/list.ts").length, 1);
  assert.equal(faults("ui/form.ts", "../alerts/list.ts").length, 1);
  for (const name of ["../ui/form.ts", "../screen.ts", "./gaps.ts", "../../../people/roles.ts"])
    assert.deepEqual(faults("rules/list.ts", name), []);
  assert.deepEqual(faults("screens.ts", "./alerts/list.ts"), []);
});

test("packages that only one folder may use stay there", () => {
  assert.deepEqual(tree.flatMap(packages), []);
});

test("time, randomness, network and the exit code are handed in", () => {
  assert.deepEqual(tree.flatMap(reservedNames), []);
});

test("no file grows past what can be read in one sitting", (t) => {
  for (const { file, lines } of tree) {
    if (lines > LONG_FILE) t.diagnostic(`${file} has ${lines} lines`);
  }
  assert.deepEqual(tree.flatMap(length), []);
});

test("no function grows past what can be held in the head", () => {
  assert.deepEqual(tree.flatMap(functionLength), []);
});

test("a function's lines are counted without those of functions inside it", () => {
  const lines = (n: number, row: string) => Array.from({ length: n }, () => row);
  const inner = [
    "  const inner = (",
    "    a: string,",
    "  ) => {",
    ...lines(40, "    b();"),
    "  };",
  ];
  const method = ["    async run() {", ...lines(40, "      c();"), "    },"];
  const text = [
    "export function outer() {",
    ...inner,
    "  if (a) {",
    "    d();",
    "  }",
    "  return {",
    ...method,
    "  };",
    "}",
  ];
  assert.deepEqual(functionLengths(text.join("\n")), [
    { name: "inner", lines: 44 },
    { name: "run", lines: 42 },
    { name: "outer", lines: 7 },
  ]);
});

test("the formatter alone says where lines break: no literal is spread into another", () => {
  const spread = /\.\.\.\{|\.\.\.\[[^[\]]*\][,}\]]/;
  assert.deepEqual(
    tree.filter(({ code }) => spread.test(code)).map(({ file }) => file),
    [],
  );
  for (const text of ["f({...{a}});", "f([...[a, b], c]);"])
    assert.match(readSource("src/app/a.ts", text).code, spread);
  for (const text of ["f([...[...a].sort()]);", "f({...(a && {b})});", "g((...[a]) => a);"])
    assert.doesNotMatch(readSource("src/app/a.ts", text).code, spread);
});

test("routes take the nouns' shapes and name none of their own", () => {
  assert.deepEqual(tree.flatMap(shapes), []);
  const text = 'const a = z.object({}).meta({ id: "A" }); use(a);';
  assert.equal(shapes(readSource("src/web/http/resources/a.ts", text)).length, 1);
  assert.deepEqual(shapes(readSource("src/core/projects/a.ts", text)), []);
});

test("a name that is exported has one meaning", () => {
  assert.deepEqual(sharedNames(tree), []);
});

test("each table of a tenant's store has one folder that writes it, and every table is there", () => {
  const writers = writersIn(tree);
  assert.deepEqual(tree.flatMap(tablesOf(writers)), []);
  const byTriggers = ["alert_counts", "alert_people"];
  assert.deepEqual([...writers.keys(), ...byTriggers].sort(), [...boxTables, "migrations"].sort());
});

test("an alert's row is updated in one place", () => {
  assert.deepEqual(tree.flatMap(alertRows), []);
});

test("each folder asks the store in one way", () => {
  assert.deepEqual(tree.flatMap(asking), []);
});

test("a prepared statement says what it takes and gives", () => {
  assert.deepEqual(tree.flatMap(typedSql), []);
});

test("every Drizzle table is asked by somebody", () => {
  const users = tree.filter(({ imports }) => imports.includes("src/ground/store/schema.ts"));
  const idle = [...drizzleTables.keys()].filter(
    (name) => !users.some(({ code }) => new RegExp(`\\b${name}\\b`).test(code)),
  );
  assert.deepEqual(idle, []);
});

test("a forbidden import is seen in each form it can take", () => {
  const forms = [
    'import { a } from "../../app/config.ts";',
    'import type { A } from "../../app/config.ts";',
    'import { type A } from "../../app/config.ts";',
    'import type * as A from "../../app/config.ts";',
    'import a from "../../app/config.ts"; use(a);',
    'import "../../app/config.ts";',
    'export { a } from "../../app/config.ts";',
    'export type { A } from "../../app/config.ts";',
    'export * from "../../app/config.ts";',
    'const a = await import("../../app/config.ts");',
    'import {\n  a,\n  b,\n} from "../../app/config.ts";',
  ];
  for (const form of forms) {
    const faults = borders(readSource("src/core/alerts/open.ts", form));
    assert.deepEqual(
      faults,
      ["src/core/alerts/open.ts: alerts may not import app/config.ts (it stands above)"],
      form,
    );
  }
});

test("an import that is allowed, or only spoken of, is none", () => {
  const text = [
    '// import { a } from "../../app/config.ts";',
    '/* import "../../web/http/app.ts"; */',
    'import type { Clock } from "../../ground/kit/clock.ts";',
    'import { row } from "./row.ts";',
    'import { z } from "zod";',
    'import { enqueue } from "../../out/outbox/enqueue.ts";',
    "use(row, z, enqueue);",
  ].join("\n");
  assert.deepEqual(borders(readSource("src/core/alerts/open.ts", text)), []);
});

test("a folder that is kept narrow, and the command line, take less than stands below them", () => {
  const faults = (file: string, name: string) => borders(readSource(file, `import "${name}";`));
  assert.equal(faults("src/in/adapters/a.ts", "../ingest/writer.ts").length, 1);
  assert.deepEqual(faults("src/in/adapters/a.ts", "../ingest/event.ts"), []);
  assert.equal(faults("src/web/console/a.ts", "../browser/page.ts").length, 1);
  assert.equal(faults("src/core/alerts/a.ts", "../../../cli/box.ts").length, 1);
  assert.equal(faults("cli/alerts.ts", "../src/web/http/app.ts").length, 1);
  assert.deepEqual(faults("cli/alerts.ts", "../src/core/alerts/alert.ts"), []);
  assert.equal(borders(readSource("src/cellar/a.ts", "")).length, 1);
});

test("a restricted package is refused outside its folder", () => {
  const uses = [
    ["src/out/outbox/due.ts", 'import { request } from "node:https"; request();'],
    ["src/app/box.ts", 'import { setTimeout } from "node:timers/promises"; setTimeout();'],
    ["src/in/ingest/handle.ts", 'import { Hono } from "hono"; use(Hono);'],
    ["src/in/ingest/handle.ts", 'import type { Log } from "../../ground/kit/log.ts";'],
    ["src/core/alerts/open.ts", 'import Database from "better-sqlite3"; use(Database);'],
    ["src/hosted/page.ts", 'import type { SqliteDeps } from "./registry/sqlite/deps.ts";'],
    ["src/hosted/page.ts", 'const a = await import("./registry/postgres/connect.ts"); use(a);'],
    ["src/hosted/registry/sqlite/a.ts", 'import type { PostgresDeps } from "../postgres/deps.ts";'],
    ["cli/box.ts", 'import "../src/ground/store/open.ts";'],
    ["src/hosted/registry/claims.ts", 'import pg from "pg"; use(pg);'],
  ] as const;
  for (const [file, text] of uses) {
    assert.equal(packages(readSource(file, text)).length, 1, text);
  }
  assert.deepEqual(packages(readSource("src/ground/kit/egress.ts", 'import "node:https";')), []);
});

test("a reserved name is refused outside its folder, and only there", () => {
  const uses = [
    "const t = Date.now();",
    "const t = new Date();",
    "const t = new Date;",
    "const t = Date();",
    "const t = Temporal.Now.instant();",
    "setTimeout(f, 5);",
    "globalThis.setInterval(f, 5);",
    "const s = AbortSignal.timeout(5);",
    "const t = performance.now();",
    "const t = process.hrtime.bigint();",
    "const x = Math.random();",
    "const x = crypto.randomUUID();",
    'import { randomBytes } from "node:crypto"; randomBytes(4);',
    "crypto.getRandomValues(new Uint8Array(4));",
    'await fetch("http://a/");',
  ];
  for (const use of uses) {
    assert.equal(reservedNames(readSource("src/core/alerts/open.ts", use)).length, 1, use);
    assert.deepEqual(reservedNames(readSource("src/ground/kit/clock.ts", use)), [], use);
  }
  for (const use of ["process.exit(1);", "process.exitCode = 1;", "process.abort();"]) {
    assert.equal(reservedNames(readSource("src/app/box.ts", use)).length, 1, use);
    assert.deepEqual(reservedNames(readSource("cli/box.ts", use)), [], use);
  }
});

test("what only looks like a reserved name passes", () => {
  const text = [
    "// Date.now() and setTimeout(f) are spoken of here",
    "const t = new Date(1700000000000).toISOString();",
    "const answer = app.fetch(request);",
    "const d = Date.UTC(2026, 1, 1) + Date.parse(text);",
    "timer.resetTimeouts();",
  ].join("\n");
  assert.deepEqual(reservedNames(readSource("src/core/alerts/open.ts", text)), []);
});

test("a file that is too long is refused", () => {
  assert.deepEqual(length(readSource("src/ground/kit/a.ts", "use();\n".repeat(350))), []);
  assert.equal(length(readSource("src/ground/kit/a.ts", "use();\n".repeat(351))).length, 1);
});

test("a name that two files export is seen, whatever it names", () => {
  const forms = [
    "export const seat = 1;",
    "export async function seat() {}",
    "export class seat {}",
    "export interface seat { a: 1 }",
    "export type seat = 1;",
  ];
  for (const form of forms) {
    const pair = [
      readSource("src/ground/kit/a.ts", "export type seat = 2;"),
      readSource("cli/b.ts", form),
    ];
    assert.deepEqual(
      sharedNames(pair),
      ["seat is exported by src/ground/kit/a.ts and cli/b.ts"],
      form,
    );
  }
  const own = [
    readSource("src/ground/kit/a.ts", "export const seat = 1;"),
    readSource("cli/b.ts", "const seat = 2; use(seat);"),
  ];
  assert.deepEqual(sharedNames(own), []);
});
