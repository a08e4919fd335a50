/**
 * The single executable: cli/box.ts bundled in parts, the runtime without its symbols, and as assets
 * what can't be bundled (the SQLite addon, migrations, the programs of worker threads), compressed where
 * that counts and not every start needs it.
 *
 * The same tree gives the same bytes: paths inside are relative, and the code cache is made with a
 * fixed random seed (V8 keeps string hashes in it; the seed is not part of what it checks on
 * loading, so a running box hashes with its own), by a run that ends as soon as it listens: what timers do isn't in it.
 */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { brotliCompressSync } from "node:zlib";
import { bundlePrograms } from "./bundle.mjs";
import { bundleConsole } from "./console.mjs";
import { stripSymbols } from "./elf.mjs";
import { bundleParts } from "./parts.mjs";

export class BuildError extends Error {
  name = "BuildError";
}

/** What the runtime inside is started with; nothing outside can add to it (`execArgvExtension`). */
export const RUNTIME_ARGUMENTS = [
  // A name like any other, also where Node itself reads one off a plain object: with `throw` a request's header ended it.
  "--disable-proto=delete",
  // Half the memory of the default at the same rate.
  "--max-semi-space-size=4",
  // node:ffi, by which systemd is told of readiness, announces itself as experimental.
  "--disable-warning=ExperimentalWarning",
];

/**
 * The program; the file whose imports are made before `box serve` listens; and what has a part of its own: the app, which
 * is loaded as soon as it listens, and what the first page or sign-in at the machine loads. All else is in the last.
 */
export const PROGRAM = {
  program: "cli/box.ts",
  serve: "cli/serve.ts",
  later: [
    ["src/app/box-app.ts", "node_modules/@hono/node-server/dist/index.mjs"],
    ["src/web/console/door.ts", "src/app/offline/desk.ts"],
  ],
};

/** What its parts are called as assets; each has its code cache beside it (`part0.cache`). */
const PARTS = Array.from({ length: PROGRAM.later.length + 2 }, (_, i) => `part${i}`);

/** Files that go into the executable under their path in the tree, beside bundle and addon. */
const ASSET_FOLDERS = ["migrations", "dist/console"];

/** Source maps are for whoever works on the tree, and what lies compressed beside a file is unpacked where it is asked for. */
const isPackable = (file) =>
  fs.statSync(file).isFile() && !file.endsWith(".map") && !fs.existsSync(`${file}.br`);

/**
 * Writes `output`.
 * `node`: the runtime to go into it (by default the one that runs this). `arch`: that runtime's processor.
 * `run`: the words before a command to run a program for that processor on this machine (an emulator).
 * Returns the paths of all bundled source files. Throws BuildError when the result doesn't start.
 */
export async function buildExecutable({
  root,
  output,
  node = process.execPath,
  arch = process.arch,
  run = [],
}) {
  const work = path.join(path.dirname(output), `.build-${path.basename(output)}`);
  const inputs = await bundleAll(root, work);
  const runtime = path.join(work, "node");
  fs.writeFileSync(runtime, stripSymbols(fs.readFileSync(node)), { mode: 0o755 });
  fs.copyFileSync(path.join(import.meta.dirname, "loader.cjs"), path.join(work, "loader.cjs"));
  const parts = PARTS.map((part) => [`${part}.js`, `${part}.js`]);
  const own = { ...assets(root, { work, arch }), ...Object.fromEntries(parts) };
  const build = { work, command: [...run, runtime] };
  const first = pack(build, "first", {
    execArgv: ["--random-seed=1", ...RUNTIME_ARGUMENTS],
    assets: own,
  });
  const caches = makeCodeCaches([...run, first], work);
  const all = { ...own, ...caches };
  const result = pack(build, "result", { execArgv: RUNTIME_ARGUMENTS, assets: all });
  checkStarts([...run, result]);
  fs.renameSync(result, output);
  fs.rmSync(work, { recursive: true });
  return inputs;
}

/** Writes an executable into `work`, by `command`, the runtime. Returns its path. */
function pack({ work, command }, output, contents) {
  const config = {
    main: "loader.cjs",
    output,
    executable: "node",
    disableExperimentalSEAWarning: true,
    execArgvExtension: "none",
    ...contents,
  };
  fs.writeFileSync(path.join(work, "sea.json"), JSON.stringify(config));
  runOrThrow([...command, "--build-sea", "sea.json"], work);
  const file = path.join(work, output);
  if (process.platform === "darwin") runOrThrow(["codesign", "--sign", "-", file], work);
  return file;
}

/**
 * Has `first` write the code caches into `work`: it starts a new box there, and ends once that listens. Returns their
 * names as assets, with their files.
 */
function makeCodeCaches(first, work) {
  const serve = ["serve", "--data", "data", "--listen", "127.0.0.1:0"];
  const [program, ...words] = [...first, ...serve];
  const options = {
    cwd: work,
    env: { PATH: process.env.PATH },
    timeout: 300_000,
    encoding: "utf8",
  };
  const { error, status, stderr } = spawnSync(program, words, options);
  const files = PARTS.map((part) => `${part}.cache`);
  // Caches are written however it ends: those of a box that didn't listen lack what the others have.
  if (error || status !== 0 || !files.every((file) => fs.existsSync(path.join(work, file))))
    throw new BuildError(`no code cache was made: ${error ?? stderr}`);
  return Object.fromEntries(files.map((file) => [file, file]));
}

/** All that is bundled, into `work`, and what browsers are sent. Returns the paths of all source files that went in. */
export async function bundleAll(root, work) {
  fs.rmSync(work, { recursive: true, force: true });
  fs.mkdirSync(work, { recursive: true });
  const browser = await bundleConsole(root);
  const inputs = await bundleInto(root, work);
  return [...new Set([...inputs, ...browser])].sort();
}

/** `src/records/reports/render-worker.ts` → `render-worker.js`. */
const bundleName = (source) => `${path.basename(source, ".ts")}.js`;

/** Programs of worker threads: each file under src whose name ends in `-worker.ts`. */
function workers(root) {
  return fs
    .readdirSync(path.join(root, "src"), { recursive: true })
    .filter((file) => file.endsWith("-worker.ts"))
    .map((file) => `src/${file.split(path.sep).join("/")}`)
    .sort();
}

async function bundleInto(root, work) {
  const define = {
    BOX_VERSION: versionOf(root),
    BOX_COMMIT: commitOf(root),
    // There are no files to be relative to; src/ground/kit/assets.ts doesn't ask where there are assets.
    "import.meta.url": "file:///box",
  };
  try {
    const parts = await bundleParts({ root, ...PROGRAM, define });
    for (const [i, text] of parts.texts.entries())
      fs.writeFileSync(path.join(work, `${PARTS[i]}.js`), text);
    const entries = workers(root);
    const { inputs } = await bundlePrograms({ root, entries, outdir: work, define });
    return Object.keys({ ...parts.metafile.inputs, ...inputs });
  } catch (error) {
    throw new BuildError(error.message);
  }
}

/** Name in the executable → file, as src/ground/kit/assets.ts asks for them. `work`: where compressed ones are laid down. */
function assets(root, { work, arch }) {
  const found = {};
  const compress = (name, bytes) => {
    const file = path.join(work, `${path.basename(name)}.br`);
    fs.writeFileSync(file, brotliCompressSync(bytes));
    found[`${name}.br`] = file;
  };
  const prebuilt = `node_modules/better-sqlite3/prebuilds/${process.platform}-${arch}.node`;
  const addon = stripSymbols(fs.readFileSync(path.join(root, prebuilt)));
  compress("better-sqlite3.node", addon);
  // Each start holds the file that it loads against this, and unpacks none.
  const sum = path.join(work, "better-sqlite3.node.sha256");
  fs.writeFileSync(sum, hash("sha256", addon, "hex"));
  found["better-sqlite3.node.sha256"] = sum;
  for (const folder of ASSET_FOLDERS) {
    for (const file of fs.readdirSync(path.join(root, folder), { recursive: true }).sort()) {
      const full = path.join(root, folder, file);
      if (isPackable(full)) found[`${folder}/${file.split(path.sep).join("/")}`] = full;
    }
  }
  for (const worker of workers(root))
    compress(worker, fs.readFileSync(path.join(work, bundleName(worker))));
  return found;
}

export function versionOf(root) {
  return JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).version;
}

/** The commit, with `-dirty` where the tree differs from it; `BOX_COMMIT` where there is no git. */
export function commitOf(root) {
  const git = (...words) => spawnSync("git", words, { cwd: root, encoding: "utf8" });
  const head = git("rev-parse", "HEAD");
  if (head.status !== 0) return process.env.BOX_COMMIT ?? "unknown";
  return head.stdout.trim() + (git("status", "--porcelain").stdout === "" ? "" : "-dirty");
}

function runOrThrow([program, ...words], cwd, env = process.env) {
  const done = spawnSync(program, words, { cwd, env, encoding: "utf8" });
  if (done.status === 0) return done;
  throw new BuildError(`${[program, ...words].join(" ")}: ${done.error ?? done.stderr}`);
}

/** A broken executable, or one whose code cache the runtime refuses, must not leave this file. */
function checkStarts(command) {
  const { stderr } = runOrThrow([...command, "--version"], "/", { PATH: process.env.PATH });
  if (stderr !== "") throw new BuildError(`the executable complains on starting: ${stderr}`);
}
