import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";

/* The short form of `.ci/fresh`, which installs for real on a machine that has nothing. */

const root = join(import.meta.dirname, "../..");
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8"));
const packages: Record<string, { hasInstallScript?: boolean }> =
  readJson("package-lock.json").packages;
const runtime = `node-${process.platform}-${process.arch}`;

/**
 * A tree with build.mjs and, as `npm`, a program that notes its arguments and leaves what npm 10 leaves: every
 * package, but no `.bin/node`, as it takes that away with the packages for other platforms.
 */
function treeWithNpm(t: TestContext) {
  const tree = mkdtempSync(join(tmpdir(), "box-setup-"));
  t.after(() => rmSync(tree, { recursive: true, force: true }));
  for (const name of ["build.mjs", "package.json", "package-lock.json"])
    cpSync(join(root, name), join(tree, name));
  mkdirSync(join(tree, "machine"));
  const npm = join(tree, "machine/npm");
  writeFileSync(
    npm,
    `#!/bin/sh
echo "$*" >>said
mkdir -p node_modules/${runtime}/bin
cp package-lock.json node_modules/.package-lock.json
touch node_modules/${runtime}/bin/node
`,
  );
  chmodSync(npm, 0o755);
  const path = [join(tree, "machine"), dirname(process.execPath), process.env["PATH"]];
  return {
    tree,
    setup: (command = "setup") =>
      spawnSync(process.execPath, ["build.mjs", command], {
        cwd: tree,
        env: { ...process.env, PATH: path.join(delimiter) },
        encoding: "utf8",
      }),
    said: () => readFileSync(join(tree, "said"), "utf8").trim().split("\n"),
  };
}

test("set-up installs once, without running what packages bring along, and links the Node that npm left out", {
  skip: existsSync(join(root, "node_modules", runtime)) ? false : `no package ${runtime}`,
}, (t) => {
  const { tree, setup, said } = treeWithNpm(t);
  const first = setup();
  assert.equal(first.status, 0, first.stderr);
  assert.equal(said().length, 1);
  assert.match(said()[0] ?? "", /^ci .*--ignore-scripts/);
  const link = join(tree, "node_modules/.bin/node");
  assert.equal(readlinkSync(link), `../${runtime}/bin/node`);

  rmSync(link);
  assert.equal(setup().status, 0);
  assert.equal(readlinkSync(link), `../${runtime}/bin/node`, "an install of somebody's own");
  assert.equal(said().length, 1);
});

test("whoever only runs a box installs no tools, and nothing where dist/box is of these sources", (t) => {
  const { tree, setup, said } = treeWithNpm(t);
  for (const folder of ["cli", "migrations", "src", "systemd", "dist"])
    mkdirSync(join(tree, folder));
  const build = "export const buildExecutable = async ({ output }) => fs.writeFileSync(output, '')";
  cpSync(join(root, "systemd/fresh"), join(tree, "systemd/fresh"));
  writeFileSync(join(tree, "systemd/executable.mjs"), `import fs from "node:fs";\n${build};\n`);
  const first = setup("executable");
  assert.equal(first.status, 0, first.stderr);
  assert.match(said().join(), /^ci --omit=dev [^,]*$/);
  assert.ok(existsSync(join(tree, "dist/box")));
  rmSync(join(tree, "node_modules"), { recursive: true });
  assert.equal(setup("executable").status, 0);
  assert.equal(said().length, 1);
  const changes = [
    () => writeFileSync(join(tree, "src/new.ts"), ""),
    () => rmSync(join(tree, "src/new.ts")),
    // As it comes out of an archive: older than what is there.
    () => utimesSync(join(tree, "package.json"), 1, 1),
    () => rmSync(join(tree, "dist/box")),
  ];
  const builtAt = () => statSync(join(tree, "dist/.box-sources")).mtimeMs;
  for (const [n, change] of changes.entries()) {
    const before = builtAt();
    change();
    assert.equal(setup("executable").status, 0);
    assert.ok(existsSync(join(tree, "dist/box")));
    assert.ok(builtAt() > before, `change ${n}`);
  }
  const last = builtAt();
  assert.equal(setup("executable").status, 0);
  assert.equal(builtAt(), last);
  assert.equal(said().length, 2);
});

test("no package that is installed without its scripts would need them", () => {
  const withScript = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript);
  // It only puts the compiler in the place of a script that starts it.
  assert.deepEqual(withScript, ["node_modules/esbuild"]);
  const compiled = Object.keys(packages).filter(
    (place) => place !== "" && existsSync(join(root, place, "binding.gyp")),
  );
  assert.deepEqual(compiled, ["node_modules/better-sqlite3"]);
  for (const platform of ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]) {
    const addon = `node_modules/better-sqlite3/prebuilds/${platform}.node`;
    assert.ok(existsSync(join(root, addon)), addon);
  }
});

test("no script of the tree relies on npm's hooks, which npm leaves out beside ignore-scripts", () => {
  assert.match(readFileSync(join(root, ".npmrc"), "utf8"), /^ignore-scripts=true$/m);
  const scripts: Record<string, string> = readJson("package.json").scripts;
  assert.deepEqual(
    Object.keys(scripts).filter((name) => /^(pre|post)/.test(name)),
    [],
  );
  for (const [name, script] of Object.entries(scripts)) {
    if (name !== "ci")
      assert.match(script, /^(systemd\/fresh 2>\/dev\/null \|\| )?node build\.mjs /, name);
  }
});
