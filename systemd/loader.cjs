/**
 * What the executable starts with. It runs the first part of the program, an asset, with the code that V8 made of it at
 * the build, which is another: it holds each function that ran then. The runtime's own code cache would hold the outermost
 * function alone. Each other part is loaded in the same way when something of it is asked for, after those before it.
 *
 * In the first of the build's two passes there is no such code yet. Then the process ends with its first line, which says
 * that a box listens. At its end it runs the modules that a start runs soon after, and writes what V8 has of each part into
 * the current directory.
 */
const fs = require("node:fs");
const sea = require("node:sea");
const vm = require("node:vm");

const bytes = (name) => Buffer.from(sea.getRawAsset(name));
const assets = sea.getAssetKeys();
const isFirstPass = !assets.includes("part0.cache");
const scripts = assets.filter((name) => /^part\d\.js$/.test(name)).map(() => null);

function read(part) {
  scripts[part] ??= new vm.Script(bytes(`part${part}.js`).latin1Slice(), {
    filename: `part${part}.js`,
    // The function's first line.
    lineOffset: -1,
    cachedData: isFirstPass ? undefined : bytes(`part${part}.cache`),
  });
  if (scripts[part].cachedDataRejected) console.error("the code cache doesn't fit this runtime");
  return scripts[part].runInThisContext();
}

/** What each part gives to the others: the first when another is loaded, because it has its names only once it ran. */
const given = [];
let first;
function load(part) {
  given[0] ??= first();
  for (let i = given.length; i <= part; i++) given[i] = read(i)(require, load, ...given);
  return given[part];
}

/** Machine code that V8 makes beside the program leaves marks in the cache, at times that differ from build to build. */
const compile = (is) => {
  const v8 = require("node:v8");
  for (const how of ["sparkplug", "maglev", "opt"])
    v8.setFlagsFromString(`--${is ? "" : "no-"}${how}`);
};

function writeCaches() {
  for (const [name, run] of Object.entries(load(1))) if (name.startsWith("init_")) run();
  for (const part of scripts.keys()) if (part > 0) read(part);
  // V8 takes a cache only with the flags that it was made with.
  compile(true);
  for (const [part, script] of scripts.entries())
    fs.writeFileSync(`part${part}.cache`, script.createCachedData());
}

if (isFirstPass) {
  compile(false);
  process.once("exit", writeCaches);
  process.stdout.write = () => process.exit();
}
read(0)(require, module, module.exports, load, (names) => {
  first = names;
});
