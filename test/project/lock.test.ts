import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

interface Locked {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const read = (name: string) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, "../..", name), "utf8"));
const about = read("package.json");
const packages: Record<string, Locked> = read("package-lock.json").packages;

/** Packages that a package names but that the lock file doesn't hold: `npm ci` refuses to start then. */
function missing(locked: Record<string, Locked>): string[] {
  return Object.entries(locked).flatMap(([place, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).filter(
      (name) => !(`node_modules/${name}` in locked) && !(`${place}/node_modules/${name}` in locked),
    ),
  );
}

test("the lock file holds every package for every platform", () => {
  assert.deepEqual(missing(packages), []);
  const { "node_modules/@biomejs/cli-darwin-arm64": _, ...rest } = packages;
  assert.deepEqual(missing(rest), ["@biomejs/cli-darwin-arm64"]);
});

test("what is asked for is one exact version each, and the one that is locked", () => {
  const asked = { ...about.dependencies, ...about.devDependencies, ...about.optionalDependencies };
  for (const [name, version] of Object.entries(asked)) {
    assert.match(String(version), /^\d+\.\d+\.\d+$/, name);
    assert.equal(packages[`node_modules/${name}`]?.version, version, name);
  }
});

test("every platform gets the same Node", () => {
  // The other that is optional, the bundler, builds what `npm start` runs and is no part of it.
  const { esbuild, ...nodes } = about.optionalDependencies;
  const versions = Object.values(nodes);
  assert.equal(versions.length, 4);
  assert.deepEqual([...new Set(versions)], [process.versions.node]);
});

test("no file says where packages come from", () => {
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
    const text = readFileSync(path.join(import.meta.dirname, "../..", name), "utf8");
    assert.doesNotMatch(text, /"resolved"|registry\s*=|registry\.[a-z]/, name);
  }
});
