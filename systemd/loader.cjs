/**
 * What the executable starts with. It runs the first part of the program, an asset, with the code that V8 made of it at
 * the build, which is another: it holds each function that runs while that part is loaded. The runtime's own code cache
 * would hold the outermost function alone. The second part is loaded in the same way when something of it is asked for.
 *
 * In the first of the build's two passes there is no such code yet. Then it writes what V8 has at the process's end to
 * `start.cache` and `rest.cache` in the current directory.
 */
const fs = require("node:fs");
const sea = require("node:sea");
const vm = require("node:vm");

const bytes = (name) => Buffer.from(sea.getRawAsset(name));
const isFirstPass = !sea.getAssetKeys().includes("start.cache");

function read(part) {
  const script = new vm.Script(bytes(part).latin1Slice(), {
    filename: `${part}.js`,
    // The function's first line.
    lineOffset: -1,
    cachedData: isFirstPass ? undefined : bytes(`${part}.cache`),
  });
  if (script.cachedDataRejected) console.error("the code cache doesn't fit this runtime");
  return script;
}

let rest;
function loadRest(names) {
  rest ??= read("rest").runInThisContext()(require, names());
  return rest;
}

const start = read("start");
if (isFirstPass)
  process.once("exit", () => {
    for (const [part, script] of Object.entries({ start, rest: read("rest") }))
      fs.writeFileSync(`${part}.cache`, script.createCachedData());
  });
start.runInThisContext()(require, module, module.exports, loadRest);
