import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { PACKAGES, packageFile, programFileIn, threadFileIn } from "./shared.ts";

const root = join(import.meta.dirname, "../..");

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node26",
  logLevel: "error",
  external: ["better-sqlite3"],
} as const satisfies BuildOptions;

/** A directory that everybody may read, inside the tree, where packages are found. Gone when this process ends. */
export function besidePackages(): string {
  const directory = mkdtempSync(join(root, "node_modules/.box-test-"));
  chmodSync(directory, 0o755);
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Each file finds the others of the tree from where it lies itself. */
const asItLies: Plugin = {
  name: "as-it-lies",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:src|cli)[\\/].*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8")
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
    }));
  },
};

const oneFile = {
  ...common,
  format: "cjs",
  supported: { "dynamic-import": false },
  plugins: [asItLies],
} as const satisfies BuildOptions;

/** Less to read and to compile at each of some hundred starts. */
const small = { minifyWhitespace: true, minifySyntax: true } as const satisfies BuildOptions;

/** This tree's program in one file: reading every file of the tree takes more than a second a start. `asWritten`: its text is looked for. */
export async function bundleProgram(directory: string, asWritten = false): Promise<string> {
  const outfile = programFileIn(directory);
  const size = asWritten ? {} : small;
  await build({ ...oneFile, ...size, entryPoints: ["cli/box.ts"], outfile });
  return outfile;
}

/** Programs of threads, each in one file: a thread has no cache, and would strip a hundred files of their types. */
export async function bundleThreads(directory: string): Promise<void> {
  await build({
    ...oneFile,
    ...small,
    entryPoints: globSync("src/**/*-worker.ts", { cwd: root }),
    outdir: dirname(threadFileIn(directory, "")),
    entryNames: "[name]",
    outExtension: { ".js": ".cjs" },
  });
}

/** The packages that are read as one. */
export async function bundlePackages(directory: string): Promise<void> {
  await build({
    ...common,
    outdir: directory,
    format: "esm",
    splitting: true,
    entryPoints: [...PACKAGES].map((name) => ({
      in: name,
      out: basename(packageFile(directory, name), ".mjs"),
    })),
    outExtension: { ".js": ".mjs" },
  });
}
