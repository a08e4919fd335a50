import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { transformSync } from "esbuild";

/** A source file as the laws of the code look at it. */
export interface Source {
  /** Path in the tree, `src/core/alerts/verbs.ts`. */
  file: string;
  lines: number;
  /** Without comments, types and optional white space. */
  code: string;
  /** As it is written. */
  text: string;
  /** The names it exports, types included. */
  exports: string[];
  /** What it imports and exports from, types included: paths in the tree, or packages' names. */
  imports: string[];
}

/** An import that TypeScript would erase. The borders hold for those too. */
const TYPE_IMPORT = /^(\s*(?:import|export)) type(?=\s*[{*]|\s+\w+\s+from\b)/gm;
const EXPORT =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const IMPORT = /\b(?:from|import)\s*\(?\s*"([^"]+)"/g;

export function readSource(file: string, text: string): Source {
  const { code } = transformSync(text.replace(TYPE_IMPORT, "$1"), {
    loader: "ts",
    legalComments: "none",
    minifyWhitespace: true,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  const inTree = (name: string) =>
    name.startsWith(".") ? path.posix.join(path.posix.dirname(file), name) : name;
  return {
    file,
    lines: text.split("\n").length - 1,
    code,
    text,
    exports: [...text.matchAll(EXPORT)].map((found) => found[1] ?? ""),
    imports: [...code.matchAll(IMPORT)].map((found) => inTree(found[1] ?? "")),
  };
}

/** Each TypeScript file below the folders, sorted. */
export const readTree = (folders: readonly string[]): Source[] =>
  readTexts(folders).map(({ file, text }) => readSource(file, text));

/** The same as they are written, which costs no more than to read them. */
export function readTexts(folders: readonly string[]): Pick<Source, "file" | "text">[] {
  const root = path.join(import.meta.dirname, "../..");
  return folders
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => `${folder}/${name.split(path.sep).join("/")}`),
    )
    .sort()
    .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));
}
