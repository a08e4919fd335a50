import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import type { Program } from "../../src/prove/scratch-box.ts";

const root = path.join(import.meta.dirname, "../..");

/**
 * The words that start this tree's program as a process of its own: one bundle, since reading every
 * file of the tree takes seconds a start. `BOX_EXECUTABLE` names a built executable to take instead.
 * Gone when this process ends.
 */
export async function program(): Promise<Program> {
  const given = process.env["BOX_EXECUTABLE"];
  if (given) return [path.resolve(given)];
  // Inside the tree, where the SQLite package is found.
  const directory = mkdtempSync(path.join(root, "node_modules/.box-test-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const outfile = path.join(directory, "box.cjs");
  await build({
    ...{ absWorkingDir: root, entryPoints: ["cli/box.ts"], outfile },
    ...{ bundle: true, platform: "node", target: "node26", format: "cjs", logLevel: "error" },
    supported: { "dynamic-import": false },
    external: ["better-sqlite3"],
    define: {
      "import.meta.dirname": JSON.stringify(path.join(root, "src/kit")),
      "import.meta.url": JSON.stringify(`file://${root}/cli/box.ts`),
    },
  });
  return [process.execPath, outfile];
}
