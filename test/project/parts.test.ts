import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const { bundleParts } = await import(join(root, "systemd/parts.mjs"));
const { PROGRAM } = await import(join(root, "systemd/executable.mjs"));

/** Names of other runtimes and of old browsers, which packages ask for by `typeof`. */
const ELSEWHERE = ["Deno", "__non_webpack_require__", "addEventListener", "msCrypto", "self"];

/** The names in scripts that are neither declared there nor Node's. */
function unknownNames(files: readonly string[]): Promise<string[]> {
  const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];
  const flags = ["--allowJs", "--checkJs", "--noEmit", "--target", "esnext", "--lib", "esnext"];
  return new Promise((resolve) =>
    execFile(
      join(root, "node_modules/.bin/tsc"),
      [...flags, ...types, "--pretty", "false", ...files],
      // Beside a tsconfig.json it takes no files.
      { cwd: tmpdir(), maxBuffer: 1 << 28 },
      (_, said) => {
        const found = said.matchAll(
          /: (?:Cannot find name|No value exists in scope for the shorthand property) '([^']+)'/g,
        );
        resolve([...new Set([...found].map(([, name = ""]) => name))].sort());
      },
    ),
  );
}

test("each part of the executable's program declares the names that it uses, or is given them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "box-parts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const define = { BOX_VERSION: "1.2.3", BOX_COMMIT: "abc", "import.meta.url": "file:///box" };
  const { texts }: { texts: string[] } = await bundleParts({ root, ...PROGRAM, define });
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = texts.map((text, i) => write(`part${i}.js`, text));
  assert.deepEqual(await unknownNames(files), ELSEWHERE);
  // What a part takes of those before it is in the head of its function: without it the names are missed.
  const [, app = ""] = texts;
  const alone = app.replace(/, \{[^}]*\}\) \{/, ") {");
  assert.notEqual(alone, app);
  assert.ok((await unknownNames([write("alone.js", alone)])).length > ELSEWHERE.length);
});
