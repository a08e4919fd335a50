/**
 * The program in parts, each with code of its own for V8 to read: the first is what `box serve` needs until it listens, the
 * next ones what it loads soon after, the last all else. V8 reads a script's code whole: in one part, most of what a start
 * read was for later. A part also keeps its text in memory, once something of it was asked for.
 *
 * esbuild bundles the program as one script. Each module is a section there, of functions and of variables that its first
 * use fills; so sections can be moved apart. A name of a later part is then read through an object that loads this part.
 * Whoever loads a part loads those before it, so their names are given to it.
 */
import vm from "node:vm";
import { transform } from "esbuild";
import { bundleText } from "./bundle.mjs";

/** What esbuild calls the line that starts the program. */
const ENTRY = "<stdin>";

/**
 * Which part each module is in, by its number: the first part for which it is imported. `roots` are the files that a part
 * is there for, as paths in the tree. What `serve` imports before it listens is loaded with the first.
 */
function partOf({ inputs }, { serve, roots }) {
  const found = new Map([[ENTRY, 0]]);
  const add = (file, number) => {
    if (found.has(file)) return;
    if (!inputs[file]) throw new Error(`no part has ${file}: it isn't in the program`);
    found.set(file, number);
    for (const { path, kind } of inputs[file].imports)
      if (inputs[path] && (kind !== "dynamic-import" || file === serve)) add(path, number);
  };
  for (const [number, files] of roots.entries()) for (const file of files) add(file, number);
  return (file) => (file === null ? 0 : (found.get(file) ?? roots.length));
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

/** Minifies a part. `elsewhere`: what to read instead of names of other parts. */
async function minified(text, elsewhere) {
  const options = { minifySyntax: true, minifyWhitespace: true, target: "node26" };
  const { code, warnings } = await transform(text, { ...options, define: elsewhere });
  if (warnings.length > 0) throw new Error(warnings.map((warning) => warning.text).join("\n"));
  return code;
}

/**
 * Names that a part's text reads: its own and those of earlier parts by themselves (`name`), a variable that an earlier one
 * fills by its group (`$s7.name`), a name of a later part by that part (`$p2.name`).
 */
const readBy = (text) => ({
  alone: new Set(text.match(/(?<!(?<!\.)\.|[\w$])[\w$]+/g)),
  byGroup: new Set(text.match(/\$[sp]\d+\.[\w$]+/g)),
});

/** Of an earlier part, what a part with these reads is given by name. */
function takenOf({ kept, groups }, { alone }) {
  return [...kept, ...groups.map(({ group }) => group)].filter((name) => alone.has(name)).join();
}

/** What a part gives to the others, as an object's text: to those `before` it, and to those `after` it. */
function givenBy({ kept, groups }, number, { before, after }) {
  const isAsked = (name) =>
    before.some(({ byGroup }) => byGroup.has(`$p${number}.${name}`)) ||
    after.some(({ alone }) => alone.has(name));
  const filled = groups.flatMap(({ group, filled: names }) => {
    const used = names.filter((name) => after.some((it) => it.byGroup.has(`${group}.${name}`)));
    return used.length > 0 ? [`${group}:{${getters(used)}}`] : [];
  });
  return `{${[...kept.filter(isAsked), ...filled].join()}}`;
}

/** Sections of the program in parts, by number: their text, and the names that they declare. */
function partsOf(text, metafile, { program, serve, later }) {
  const numberOf = partOf(metafile, { serve, roots: [[program], ...later] });
  const sections = sectionsOf(text, metafile).map((section, i) => ({
    text: section.text,
    number: numberOf(section.file),
    group: `$s${i}`,
    ...namesIn(section),
  }));
  return Array.from({ length: later.length + 2 }, (_, number) => {
    const own = sections.filter((section) => section.number === number);
    return {
      text: own.map((section) => section.text).join("\n"),
      kept: own.flatMap(({ kept }) => kept),
      groups: own.filter(({ filled }) => filled.length > 0),
    };
  });
}

/** Minifies part `i`, with what it reads of the others written as it is there. */
function coded(parts, i) {
  const later = parts.slice(i + 1).map(({ kept }, j) => ({ kept, name: `$p${i + 1 + j}` }));
  const filled = parts.slice(0, i).flatMap(({ groups }) => groups);
  const loads = later.map(
    ({ name }, j) =>
      `const ${name} = new Proxy({}, { get: (_, one) => $load(${i + 1 + j})[one] });`,
  );
  const gives = i === 0 ? ["$give(() => $given);"] : [];
  return minified([parts[i].text, ...loads, ...gives].join("\n"), {
    ...Object.fromEntries(
      filled.flatMap((of) => of.filled.map((name) => [name, `${of.group}.${name}`])),
    ),
    ...Object.fromEntries(
      later.flatMap(({ kept, name }) => kept.map((one) => [one, `${name}.${one}`])),
    ),
  });
}

/**
 * Bundles `program`, of which `serve` is the file whose imports are made before it listens. `later`: the files for which
 * each part between the first and the last is there. Returns the texts of all parts, functions for `systemd/loader.cjs`,
 * and esbuild's account of the bundle.
 */
export async function bundleParts({ root, program, serve, later, define }) {
  const { text, metafile } = await bundleText({ root, program, define });
  if (/\$([sp]\d|given?\b|load\b)/.test(text))
    throw new Error("a name in the program looks like one of its groups");
  const parts = partsOf(text, metafile, { program, serve, later });
  const codes = await Promise.all(parts.map((_, i) => coded(parts, i)));
  const reads = codes.map(readBy);
  const texts = codes.map((code, i) => {
    const gives = givenBy(parts[i], i, { before: reads.slice(0, i), after: reads.slice(i + 1) });
    // The first runs the program, and gives when the next is loaded; the others give as they are loaded.
    if (i === 0)
      return `(function (require, module, exports, $load, $give) {\n${code.replace("$given", () => `(${gives})`)}\n})`;
    const taken = parts.slice(0, i).map((part) => `, {${takenOf(part, reads[i])}}`);
    // Strict, so that an assignment to a name of another part throws and isn't lost.
    return `"use strict";(function (require, $load${taken.join("")}) {\n${code}\nreturn ${gives}\n})`;
  });
  return { texts, metafile };
}
