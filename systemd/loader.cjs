/**
 * What the executable starts with. It runs the bundle, which is an asset, with the code that V8 made of it at the build,
 * which is another: it holds each function that runs while the bundle is loaded. The runtime's own code cache would hold
 * the outermost function alone.
 *
 * In the first of the build's two passes there is no such code yet. Then it writes what V8 has at the process's end to
 * `program.cache` in the current directory.
 */
const fs = require("node:fs");
const sea = require("node:sea");
const vm = require("node:vm");

const bytes = (name) => Buffer.from(sea.getRawAsset(name));
const isFirstPass = !sea.getAssetKeys().includes("program.cache");

const script = new vm.Script(bytes("program").latin1Slice(), {
  filename: "box.js",
  // The function's first line.
  lineOffset: -1,
  cachedData: isFirstPass ? undefined : bytes("program.cache"),
});
if (script.cachedDataRejected) console.error("the code cache doesn't fit this runtime");
if (isFirstPass)
  process.once("exit", () => fs.writeFileSync("program.cache", script.createCachedData()));
script.runInThisContext()(require, module, module.exports);
