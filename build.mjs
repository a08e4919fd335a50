/**
 * Everything that turns this tree into something that runs.
 *
 *   node build.mjs setup      install the locked packages when they are missing or others than locked, and bundle
 *                             what runs in browsers when its sources changed
 *   node build.mjs executable the same for whoever only wants to run it: installs what runs, not what tests, and writes
 *                             dist/box when the sources changed
 *   node build.mjs build      write dist/box for this machine
 *   node build.mjs bill       write dist/sbom.json alone: what an executable is made of
 *   node build.mjs image      write dist/image and dist/box-image.tar: the container image
 *   node build.mjs release    write dist/release: every platform, packages, sums, bill of materials; with
 *                             --sign KEY an apt repository that this key of gpg's signs
 *
 * `setup` runs on whatever Node the machine has (20 or later); the rest runs on the Node that
 * `setup` installed, which is also the one that goes into the executable.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(root, "node_modules");
const bin = path.join(modules, ".bin");
const NODE_MAJOR = 26;

class BuildError extends Error {}

const readJson = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

/**
 * Whether each locked package lies installed in its locked version. Contents are compared, not
 * times: a checkout gives the lock file a new time without changing it. Optional packages don't
 * count, because npm leaves out those made for another platform. `toRun`: nor do those that only tests and checks need.
 */
function isInstalled({ toRun = false } = {}) {
  const hidden = path.join(modules, ".package-lock.json");
  if (!fs.existsSync(hidden)) return false;
  const present = readJson(hidden).packages;
  return Object.entries(readJson(path.join(root, "package-lock.json")).packages).every(
    ([place, locked]) => {
      if (place === "" || (toRun && locked.dev)) return true;
      const found = present[place];
      if (!found) return locked.optional === true;
      return found.version === locked.version && found.integrity === locked.integrity;
    },
  );
}

/** Runs `action` while no other process on this tree does; waits for one that is at it. */
async function exclusively(action) {
  const lock = path.join(root, "dist", ".setup.lock");
  fs.mkdirSync(path.dirname(lock), { recursive: true });
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!isAlive(lock)) fs.rmSync(lock, { force: true });
      else Atomics.wait(pause, 0, 0, 200);
    }
  }
  try {
    return await action();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

function isAlive(lock) {
  try {
    const pid = Number(fs.readFileSync(lock, "utf8"));
    // An empty file belongs to a process between creating and writing it.
    if (pid === 0) return Date.now() - fs.statSync(lock).mtimeMs < 5000;
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * PATH without any node_modules/.bin, where npm and the machine's own Node are found: `npm ci`
 * empties node_modules and must not run on a Node that lies in it.
 */
function machinePath() {
  const all = (process.env.PATH ?? "").split(path.delimiter);
  const own = all.filter((dir) => !dir.endsWith(path.join("node_modules", ".bin")));
  const has = (name) => own.some((dir) => fs.existsSync(path.join(dir, name)));
  return (has("node") && has("npm") ? own : all).join(path.delimiter);
}

function install({ toRun = false } = {}) {
  process.stderr.write("installing the locked packages …\n");
  const done = spawnSync(
    "npm",
    [
      "ci",
      toRun ? "--omit=dev" : "--include=dev",
      "--include=optional",
      "--prefer-offline",
      "--loglevel=error",
      // better-sqlite3 ships compiled, yet npm would compile it: it goes by a file in the package.
      "--ignore-scripts",
    ],
    { cwd: root, env: { ...process.env, PATH: machinePath() }, stdio: ["ignore", 2, 2] },
  );
  if (done.error) throw new BuildError(`npm can't be run: ${done.error.message}`);
  if (done.status !== 0) throw new BuildError("npm ci failed; its own lines above say why");
}

/**
 * Puts the installed Node into node_modules/.bin where npm left it out. npm 9 and 10 do: when they drop the
 * packages for other platforms they take away `.bin/node`, which those would have had, too.
 */
function linkNode() {
  const names = Object.keys(readJson(path.join(root, "package.json")).optionalDependencies);
  const name = names.find((one) => fs.existsSync(path.join(modules, one, "bin/node")));
  if (!name) return;
  fs.mkdirSync(bin, { recursive: true });
  fs.rmSync(path.join(bin, "node"), { force: true });
  fs.symlinkSync(`../${name}/bin/node`, path.join(bin, "node"));
}

async function setup(of) {
  const isReady = () => isInstalled(of) && fs.existsSync(path.join(bin, "node"));
  if (!isReady()) {
    await exclusively(() => {
      if (!isInstalled(of)) install(of);
      if (!fs.existsSync(path.join(bin, "node"))) linkNode();
    });
  }
  await bundleBrowser();
  if (isReady()) return;
  const platform = `${process.platform}-${process.arch}`;
  if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR) {
    throw new BuildError(
      `there is no Node ${NODE_MAJOR} package for ${platform}: put a Node ${NODE_MAJOR} first on PATH`,
    );
  }
}

/** dist/console from src/web/browser. The bundler is one of the packages, so that this comes after them. */
async function bundleBrowser() {
  if (!fs.existsSync(path.join(root, "src/web/browser"))) return;
  const { bundleConsole, isConsoleBundled } = await import("./systemd/console.mjs");
  if (!isConsoleBundled(root)) await exclusively(() => bundleConsole(root));
}

/** Hands over to the installed Node when this one is older. Returns whether it did. */
function onInstalledNode() {
  const node = path.join(bin, "node");
  const isOld = Number(process.versions.node.split(".")[0]) < NODE_MAJOR;
  if (!isOld || !fs.existsSync(node)) return false;
  const { status } = spawnSync(node, process.argv.slice(1), { stdio: "inherit" });
  process.exitCode = status ?? 1;
  return true;
}

/** `--name VALUE` from the command line, or undefined. */
function option(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const stamp = path.join(root, "dist/.box-sources");

/** Whether dist/box is of these sources. */
const isFresh = () =>
  spawnSync(path.join(root, "systemd/fresh"), { stdio: ["ignore", 2, "ignore"] }).status === 0;

/** dist/box of these sources, for `npm start`: it starts in a fraction of the time that the sources take. */
async function executable() {
  if (isFresh()) return;
  await setup({ toRun: true });
  if (onInstalledNode()) return;
  process.stderr.write("building dist/box …\n");
  const { buildExecutable } = await import("./systemd/executable.mjs");
  await exclusively(async () => {
    if (isFresh()) return;
    // What changes while it is built is newer than this.
    const begun = new Date();
    await buildExecutable({ root, output: path.join(root, "dist/box") });
    fs.writeFileSync(stamp, "");
    fs.utimesSync(stamp, begun, begun);
  });
}

const commands = {
  setup,
  executable,
  async build() {
    await setup();
    if (onInstalledNode()) return;
    const { buildExecutable } = await import("./systemd/executable.mjs");
    await buildExecutable({
      root,
      output: path.resolve(root, option("out") ?? "dist/box"),
    });
  },
  async bill() {
    await setup();
    if (onInstalledNode()) return;
    const { bill } = await import("./systemd/release.mjs");
    await bill(root);
  },
  async image() {
    await setup();
    if (onInstalledNode()) return;
    const { releaseImage } = await import("./systemd/release.mjs");
    await releaseImage(root);
  },
  async release() {
    await setup();
    if (onInstalledNode()) return;
    const { release } = await import("./systemd/release.mjs");
    await release(root, { signer: option("sign") });
  },
};

try {
  const command = commands[process.argv[2]];
  if (!command) throw new BuildError(`usage: node build.mjs ${Object.keys(commands).join("|")}`);
  await command();
} catch (error) {
  if (!(error instanceof BuildError) && error.name !== "BuildError") throw error;
  process.stderr.write(`build: ${error.message}\n`);
  process.exitCode = 1;
}
