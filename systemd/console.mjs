/**
 * What the console sends to browsers: `src/web/browser` as one script and one style sheet in dist/console, with further scripts of
 * single pages and its icons, also compressed, so that a small machine never compresses them, the service worker, which knows
 * their addresses, and `list.json`, which says what there is.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { drawIcons } from "./icons.mjs";

/** Browsers of the last three years, so that the style sheet's nesting and the script's syntax are written for them. */
const BROWSERS = ["chrome111", "firefox113", "safari16.4"];

/** What every page has, and a script of its own name for each page that needs more. */
function entries(root) {
  const folder = path.join(root, "src/web/browser/pages");
  const pages = fs.existsSync(folder) ? fs.readdirSync(folder).sort() : [];
  return {
    "console.js": "src/web/browser/main.ts",
    "console.css": "src/web/browser/main.css",
    ...Object.fromEntries(
      pages.map((file) => [`${path.parse(file).name}.js`, `src/web/browser/pages/${file}`]),
    ),
  };
}

/** Sent as it is written. */
const ICON = "icon.svg";

/** Below an address that never changes, and so none of the files that are named after what is in them. */
const WORKER = { name: "worker.js", file: "src/web/browser/worker/main.ts" };

/** The files that the bundle is made from, as paths in the tree, sorted. */
function sources(root) {
  const folder = path.join(root, "src/web/browser");
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  const own = names
    .filter((name) => /\.(?:ts|css|svg)$/.test(name))
    .map((name) => `src/web/browser/${name.split(path.sep).join("/")}`)
    .sort();
  // The packages' versions, and this file.
  return [...own, "package-lock.json", "systemd/console.mjs", "systemd/icons.mjs"];
}

/** Contents are compared, not times: a checkout gives files new times, and old ones to what it brings back. */
function digestOf(root, files) {
  const digest = createHash("sha256");
  for (const file of files)
    digest.update(`${file}\0`).update(fs.readFileSync(path.join(root, file)));
  return digest.digest("hex");
}

function readList(out) {
  try {
    return JSON.parse(fs.readFileSync(path.join(out, "list.json"), "utf8"));
  } catch {
    return null;
  }
}

/** Whether dist/console is what the sources make; also where this tree has nothing for browsers. */
export function isConsoleBundled(root) {
  if (!fs.existsSync(path.join(root, "src/web/browser"))) return true;
  return readList(path.join(root, "dist/console"))?.sources === digestOf(root, sources(root));
}

/**
 * Writes dist/console where it isn't what the sources make. Each file takes its place at once and the list last: who
 * reads meanwhile, or writes the same, never finds half a file. Returns the paths of all bundled files.
 */
export async function bundleConsole(root) {
  const out = path.join(root, "dist/console");
  if (isConsoleBundled(root)) return readList(out)?.inputs ?? [];
  const bundled = await bundle(root, entries(root), { format: "esm" });
  const icon = { name: ICON, bytes: fs.readFileSync(path.join(root, "src/web/browser", ICON)) };
  const files = [...bundled.files, icon, ...drawIcons()];
  const shown = files.filter(({ name }) => !name.endsWith(".map"));
  shown.sort((a, b) => (a.name < b.name ? -1 : 1));
  const digest = createHash("sha256");
  for (const { name, bytes } of shown) digest.update(`${name}\0`).update(bytes);
  const hash = digest.digest("base64url").slice(0, 12);
  const names = shown.map(({ name }) => name);
  const worker = await bundle(
    root,
    { [WORKER.name]: WORKER.file },
    {
      format: "iife",
      define: { BUNDLED: JSON.stringify({ hash, files: names }) },
    },
  );
  fs.mkdirSync(out, { recursive: true });
  for (const { name, bytes } of [...files, ...worker.files]) {
    place(out, name, bytes);
    // A picture is compressed as it is.
    if (/\.(?:map|png)$/.test(name)) continue;
    place(out, `${name}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    place(out, `${name}.br`, brotliCompressSync(bytes, { params }));
  }
  const list = {
    hash,
    files: names,
    worker: WORKER.name,
    inputs: [...new Set([...bundled.inputs, ...worker.inputs])].sort(),
    sources: digestOf(root, sources(root)),
  };
  place(out, "list.json", Buffer.from(`${JSON.stringify(list, null, 2)}\n`));
  return list.inputs;
}

/** Files by their names from sources by their paths, with maps for whoever works on it; the executable takes none along. */
async function bundle(root, from, how) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(from).map(([name, file]) => ({
      in: file,
      out: path.parse(name).name,
    })),
    outdir: path.join(root, "dist/console"),
    write: false,
    bundle: true,
    minify: true,
    target: BROWSERS,
    legalComments: "none",
    sourcemap: "external",
    metafile: true,
    logLevel: "error",
    ...how,
  });
  const files = outputFiles.map(({ path: file, contents }) => ({
    name: path.basename(file),
    bytes: Buffer.from(contents),
  }));
  // What is defined here counts as an input, too.
  const inputs = Object.keys(metafile.inputs).filter((name) => !name.startsWith("<"));
  return { files, inputs };
}

function place(out, name, bytes) {
  const temporary = path.join(out, `.${name}.${process.pid}`);
  fs.writeFileSync(temporary, bytes);
  fs.renameSync(temporary, path.join(out, name));
}
