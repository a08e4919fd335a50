/**
 * The program in two parts, each with code of its own for V8 to read: `start` is what `box serve` needs until it listens,
 * `rest` all else. V8 reads a script's code whole: in one part, most of what a start read was for later.
 *
 * esbuild bundles the program as one script. Each module is a section there, of functions and of variables that its first
 * use fills; so sections can be moved apart. A name of the other part is then read through an object that has it.
 */
import vm from "node:vm";
import { transform } from "esbuild";
import { bundleText } from "./bundle.mjs";

/** What esbuild calls the line that starts the program. */
const ENTRY = "<stdin>";

/** Modules that are loaded with `program` by what `serve` imports before it listens, as paths in the tree. */
function startOf({ inputs }, program, serve) {
  const found = new Set();
  const add = (file) => {
    if (found.has(file) || !inputs[file]) return;
    found.add(file);
    for (const { path, kind } of inputs[file].imports)
      if (kind !== "dynamic-import" || file === serve) add(path);
  };
  add(program);
  return found;
}

/** The sections of a bundle, in order: each module's file and text. What is before the first belongs to no file. */
function sectionsOf(text, { inputs }) {
  const sections = [{ file: null, lines: [] }];
  for (const line of text.split("\n")) {
    const file = line.startsWith("// ") ? line.slice(3) : "";
    if (inputs[file]) sections.push({ file, lines: [] });
    else sections.at(-1).lines.push(line);
  }
  return sections.map(({ file, lines }) => ({ file, text: lines.join("\n") }));
}

/** What the helpers of esbuild that run with a section give: something that stays what it is. */
const WRAPPERS = { __esm: () => WRAPPERS, __commonJS: () => WRAPPERS, __export: () => {} };

/**
 * The names that a section declares: V8 says what is there once it has run. `filled` are the variables that have their
 * value only once the module was asked for. It throws where the text is no whole section.
 */
function namesIn({ file, text }) {
  if (file === ENTRY) return { kept: [], filled: [] };
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
  if (file !== null) Object.assign(context, WRAPPERS);
  vm.runInContext(text, context, { filename: file ?? "helpers" });
  const names = Object.keys(context).filter((name) => file === null || !(name in WRAPPERS));
  const [kept, filled] = [true, false].map((is) =>
    names.filter((name) => (context[name] !== undefined) === is),
  );
  return { kept, filled };
}

const getters = (names) => names.map((name) => `get ${name}(){return ${name}}`).join();

/** Minifies a part. `elsewhere`: what to read instead of names of the other part. */
async function minified(text, elsewhere) {
  const options = { minifySyntax: true, minifyWhitespace: true, target: "node26" };
  const { code, warnings } = await transform(text, { ...options, define: elsewhere });
  if (warnings.length > 0) throw new Error(warnings.map((warning) => warning.text).join("\n"));
  return code;
}

/**
 * Bundles `program`, of which `serve` is the file whose imports are made before it listens. Returns the texts of both
 * parts, functions for `systemd/loader.cjs`, and esbuild's account of the bundle.
 */
export async function bundleParts({ root, program, serve, define }) {
  const { text, metafile } = await bundleText({ root, program, define });
  const first = new Set([null, ENTRY, ...startOf(metafile, program, serve)]);
  const sections = sectionsOf(text, metafile).map((section) => ({
    ...section,
    ...namesIn(section),
  }));
  const [start, rest] = [true, false].map((is) => {
    const part = sections.filter(({ file }) => first.has(file) === is);
    return { part, text: part.map((section) => section.text).join("\n") };
  });
  const groups = start.part.map(({ filled }, i) => ({ group: `$s${i}`, filled }));
  if (/\$s\d/.test(rest.text))
    throw new Error("a name in the program looks like one of its groups");
  const later = await minified(
    rest.text,
    Object.fromEntries(
      groups.flatMap(({ group, filled }) => filled.map((name) => [name, `${group}.${name}`])),
    ),
  );
  const words = new Set(later.match(/[\w$]+/g));
  const kept = start.part.flatMap((section) => section.kept).filter((name) => words.has(name));
  const given = groups.filter(({ group }) => words.has(group));
  const filled = given.map(({ group, filled: names }) => {
    const used = names.filter((name) => words.has(name));
    return `${group}:{${getters(used)}}`;
  });
  const names = rest.part.flatMap((section) => section.kept);
  const now = await minified(
    `${start.text}
const $rest = new Proxy({}, { get: (_, name) => $load($names)[name] });
const $names = () => ({ ${[...kept, ...filled].join()} });`,
    Object.fromEntries(names.map((name) => [name, `$rest.${name}`])),
  );
  const asked = new Set([...now.matchAll(/\$rest\.([\w$]+)/g)].map(([, name]) => name));
  const taken = [...kept, ...given.map(({ group }) => group)].join();
  return {
    start: `(function (require, module, exports, $load) {\n${now}\n})`,
    // Strict, so that an assignment to a name of the other part throws and isn't lost.
    rest: `"use strict";(function (require, {${taken}}) {\n${later}\nreturn {${[...asked].join()}}\n})`,
    metafile,
  };
}
