import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
// Plain JavaScript without types: it also runs where nothing is installed.
const { billOfMaterials } = await import(join(root, "systemd/bill.mjs"));
const about = { version: "1.2.3", commit: "abc", time: 1_767_225_600 };

interface Bill {
  components: { name: string; version: string; purl: string }[];
}

test("the bill of materials names all that npm's own does, and Node and SQLite beside it", () => {
  const words = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"];
  const npm = spawnSync("npm", [...words, "--omit=optional"], { cwd: root, encoding: "utf8" });
  assert.equal(npm.status, 0, npm.stderr);
  const bill: Bill = billOfMaterials(root, about, []);
  const named = new Set(bill.components.map(({ purl }) => purl));
  const packages: Bill = JSON.parse(npm.stdout);
  assert.ok(packages.components.length > 50);
  assert.deepEqual(
    packages.components.map(({ purl }) => purl).filter((purl) => !named.has(purl)),
    [],
  );
  assert.deepEqual(bill.components.map(({ name }) => name).slice(-2), ["node", "sqlite"]);
  assert.deepEqual(billOfMaterials(root, about, []), bill, "the same each time");
});

test("a release whose executable holds a package that the bill doesn't name is refused", () => {
  billOfMaterials(root, about, ["cli/box.ts", "node_modules/htmlparser2/dist/index.js"]);
  assert.throws(
    () => billOfMaterials(root, about, ["node_modules/fast-check/lib/index.js"]),
    /node_modules\/fast-check is in no bill of materials/,
  );
});
