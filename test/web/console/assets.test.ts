import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { assets } from "../../../src/web/console/assets.ts";
import { bundleConsole, isConsoleBundled } from "../../../systemd/console.mjs";
import { testBox } from "../../support/box.ts";
import { signedIn, tabOf } from "../../support/console.ts";

const root = join(import.meta.dirname, "../../..");

const bytesOf = async (answer: Response | null) =>
  Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer());

const PLAIN = {
  "console.js": /^text\/javascript/,
  "console.css": /^text\/css/,
  "icon.svg": /^image\/svg/,
};

test("each file comes in the best encoding that is taken, for ever", async () => {
  const { style, script, icon, serve } = assets();
  for (const [path, [name, type]] of [
    [script, Object.entries(PLAIN)[0] ?? []],
    [style, Object.entries(PLAIN)[1] ?? []],
    [icon, Object.entries(PLAIN)[2] ?? []],
  ] as const) {
    const plain = readFileSync(join(root, "dist/console", name ?? ""));
    assert.match(path, new RegExp(`^/assets/[\\w-]{12}/${name}$`));
    const identity = serve(path, undefined);
    assert.equal(identity?.headers.get("content-encoding"), null);
    assert.match(identity?.headers.get("content-type") ?? "", type ?? /^$/);
    assert.match(identity?.headers.get("cache-control") ?? "", /max-age=31536000, immutable/);
    assert.deepEqual(await bytesOf(identity), plain);
    const packed = serve(path, "gzip, deflate, br, zstd");
    assert.equal(packed?.headers.get("content-encoding"), "br");
    assert.equal(packed?.headers.get("vary"), "Accept-Encoding");
    assert.deepEqual(brotliDecompressSync(await bytesOf(packed)), plain);
    const zipped = serve(path, "br;q=0, GZIP;q=0.5");
    assert.equal(zipped?.headers.get("content-encoding"), "gzip");
    assert.deepEqual(gunzipSync(await bytesOf(zipped)), plain);
    assert.equal(serve(path, "br;q=0.0,gzip; q=0, *")?.headers.get("content-encoding"), null);
  }
});

test("another version's address, and what isn't meant for browsers, is nowhere", () => {
  const { script, serve } = assets();
  const paths = [
    "/assets/000000000000/console.js",
    script.replace("console.js", "list.json"),
    script.replace("console.js", "console.js.map"),
    script.replace("console.js", "console.js.gz"),
    script.replace("console.js", "../list.json"),
    script.replace("console.js", ""),
    "/assets/",
  ];
  for (const path of paths) assert.equal(serve(path, "br"), null, path);
});

test("the script is at most 15 kB and the style sheet 12 kB, compressed", async (t) => {
  const { style, script, serve } = assets();
  const sizes = { script: 15_000, style: 12_000 };
  for (const [name, most] of Object.entries(sizes)) {
    const { length } = await bytesOf(serve(name === "script" ? script : style, "gzip"));
    t.diagnostic(`${name}: ${length} bytes`);
    assert.ok(length > 0 && length <= most, `${name}: ${length} bytes`);
  }
});

test("every page names an icon, of at most 1 kB, so that no browser asks for one elsewhere", async (t) => {
  const { icon, serve } = assets();
  assert.ok((await bytesOf(serve(icon, undefined))).length <= 1024);
  const box = await testBox();
  t.after(() => box.stop());
  for (const page of [await signedIn(box).get("/alerts"), await tabOf(box, "").get("/signin")]) {
    assert.equal(page.status, 200);
    assert.match(page.text, new RegExp(`<link rel="icon" type="image/svg\\+xml" href="${icon}">`));
  }
});

/** A tree with a little of everything that the bundle is made from. */
function smallTree(t: TestContext): string {
  const tree = mkdtempSync(join(tmpdir(), "box-bundle-"));
  t.after(() => rmSync(tree, { recursive: true, force: true }));
  mkdirSync(join(tree, "src/web/browser/worker"), { recursive: true });
  mkdirSync(join(tree, "systemd"));
  for (const name of ["package-lock.json", "systemd/console.mjs", "systemd/icons.mjs"])
    cpSync(join(root, name), join(tree, name));
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  writeFileSync(join(tree, "src/web/browser/main.ts"), "console.log(1 as number);\n");
  writeFileSync(join(tree, "src/web/browser/worker/main.ts"), "console.log(BUNDLED.hash);\n");
  writeFileSync(join(tree, "src/web/browser/main.css"), "a { color: red }\n");
  writeFileSync(join(tree, "src/web/browser/icon.svg"), "<svg/>\n");
  return tree;
}

test("it is bundled when a source is another than it was, by what is in it", async (t) => {
  const tree = smallTree(t);
  const list = () => JSON.parse(readFileSync(join(tree, "dist/console/list.json"), "utf8"));
  assert.equal(isConsoleBundled(tree), false);
  assert.deepEqual(await bundleConsole(tree), [
    "src/web/browser/main.css",
    "src/web/browser/main.ts",
    "src/web/browser/worker/main.ts",
  ]);
  assert.equal(isConsoleBundled(tree), true);
  const first = list();
  writeFileSync(join(tree, "src/web/browser/main.ts"), "console.log(1 as number);\n");
  assert.equal(isConsoleBundled(tree), true, "written anew, the same");
  writeFileSync(join(tree, "src/web/browser/main.ts"), "console.log(2 as number);\n");
  assert.equal(isConsoleBundled(tree), false);
  await bundleConsole(tree);
  assert.notEqual(list().hash, first.hash);
  const worker = readFileSync(join(tree, "dist/console/worker.js"), "utf8");
  assert.ok(worker.includes(list().hash), "the worker is another one, so that browsers take it");
  assert.equal(readFileSync(join(tree, "dist/console/console.js"), "utf8"), "console.log(2);\n");
  // An address changes only with what is behind it.
  writeFileSync(join(tree, "src/web/browser/main.ts"), "console.log(1);\n");
  await bundleConsole(tree);
  assert.equal(list().hash, first.hash);
});

test("two that bundle at once make what one makes", async (t) => {
  const tree = smallTree(t);
  await Promise.all([bundleConsole(tree), bundleConsole(tree)]);
  assert.equal(isConsoleBundled(tree), true);
  const script = readFileSync(join(tree, "dist/console/console.js"));
  assert.deepEqual(gunzipSync(readFileSync(join(tree, "dist/console/console.js.gz"))), script);
});

test("a tree that sends nothing to browsers has nothing to bundle", (t) => {
  const tree = smallTree(t);
  rmSync(join(tree, "src/web/browser"), { recursive: true });
  assert.equal(isConsoleBundled(tree), true);
});
