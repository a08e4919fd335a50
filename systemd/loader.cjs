/**
 * What the executable starts with: it runs the bundle, an asset, by the code that V8 made of it at the build. That code
 * holds each function that a start runs, where the runtime's own code cache holds none but the outermost.
 *
 * Without that asset, which is so in the first of the build's two passes, it writes the code to the file that it is told,
 * after all that runs at the bundle's loading has run.
 */
const fs = require("node:fs");
const sea = require("node:sea");
const vm = require("node:vm");

const bytes = (name) => Buffer.from(sea.getRawAsset(name));
const isFirstPass = !sea.getAssetKeys().includes("program.cache");

const words = "(function (require, module, exports) {";
const script = new vm.Script(`${words}${bytes("program").latin1Slice()}\n})`, {
  filename: "box.js",
  columnOffset: -words.length,
  cachedData: isFirstPass ? undefined : bytes("program.cache"),
});
if (script.cachedDataRejected) console.error("the code cache doesn't fit this runtime");
if (isFirstPass)
  process.once("exit", () => fs.writeFileSync("program.cache", script.createCachedData()));
script.runInThisContext()(require, module, module.exports);
