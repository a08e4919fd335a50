import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { schemaText } from "../../../migrations/generate.ts";

test("the tables that queries are written against are those that the migrations make", () => {
  const path = join(import.meta.dirname, "../../../src/ground/store/schema.ts");
  assert.equal(
    readFileSync(path, "utf8"),
    schemaText(),
    "run: node_modules/.bin/node migrations/generate.ts",
  );
});
