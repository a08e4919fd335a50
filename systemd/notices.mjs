import fs from "node:fs";
import path from "node:path";

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.\w+)?$/i;

/**
 * The licences of everything inside the executable: Node's (which lists its own parts) and each
 * package that a bundled file came from. `inputs`: paths of bundled files; `node`: the runtime.
 */
export function noticesOf(root, inputs, node) {
  const packages = new Set(["node_modules/better-sqlite3"]);
  for (const file of inputs) {
    const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
    if (found) packages.add(found[0]);
  }
  const parts = [...packages].sort().map((place) => {
    const folder = path.join(root, place);
    const about = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const texts = fs
      .readdirSync(folder)
      .filter((file) => LICENCE_FILE.test(file))
      .sort()
      .map((file) => fs.readFileSync(path.join(folder, file), "utf8").trim());
    return `${about.name} ${about.version} (${about.license})\n\n${texts.join("\n\n")}`;
  });
  const runtime = fs.readFileSync(path.join(path.dirname(node), "../LICENSE"), "utf8").trim();
  const rule = `\n\n${"-".repeat(79)}\n\n`;
  const own = "box is licensed under the Apache License, version 2.0. It contains:";
  return `${[own, ...parts, `Node.js\n\n${runtime}`].join(rule)}\n`;
}
