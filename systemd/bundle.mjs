/** What goes into the executable as one file: a program of the tree and all that it imports. */
import path from "node:path";
import { build } from "esbuild";

/**
 * Bundles each of `entries`, paths in the tree, into a file of its own in `outdir`, named after it. `define`: names in
 * the code that stand for text. Returns esbuild's account of what went into each (`metafile`).
 * Throws what esbuild throws where something can't be bundled.
 */
export async function bundlePrograms({ root, entries, outdir, define = {} }) {
  const { metafile } = await build({
    ...optionsOf(root, define),
    entryPoints: entries.map((file) => ({ in: file, out: path.basename(file, ".ts") })),
    outdir,
    minifyWhitespace: true,
  });
  return metafile;
}

/** `program` as one readable script, in which each module waits until it is asked for, and esbuild's account of it. */
export async function bundleText({ root, program, define }) {
  const { outputFiles, metafile } = await build({
    ...optionsOf(root, define),
    stdin: { contents: `require("./${program}");`, resolveDir: root },
    write: false,
  });
  return { text: outputFiles[0].text, metafile };
}

const optionsOf = (root, define) => ({
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node26",
  // A package that has modules has them read: what nobody calls of them is left out.
  mainFields: ["module", "main"],
  alias: { "@modelcontextprotocol/server/_shims": "./systemd/mcp-shims.mjs" },
  plugins: [withoutFileTypes(root), withoutPools(root), withoutHttp2(root)],
  // A script and not a module: what it requires of Node is then loaded when it is first needed.
  format: "cjs",
  supported: { "dynamic-import": false },
  // Names stay, so that a stack trace can be read.
  minifySyntax: true,
  legalComments: "none",
  metafile: true,
  logLevel: "silent",
  define: Object.fromEntries(
    Object.entries(define).map(([name, text]) => [name, JSON.stringify(text)]),
  ),
});

const withoutFileTypes = (root) => ({
  name: "without-file-types",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/mime-types\.js$/ }, ({ importer }) =>
      /[\\/]nodemailer[\\/]/.test(importer)
        ? { path: path.join(root, "systemd/mail-file-types.mjs") }
        : undefined,
    );
  },
});

/** Of PostgreSQL's client, its own pool and its binding to a C library: the program has a pool, and no such library. */
const withoutPools = (root) => ({
  name: "without-pools",
  setup({ onResolve }) {
    onResolve({ filter: /^(pg-pool|\.\/native(\/index)?(\.js)?)$/ }, ({ importer }) =>
      /[\\/]pg[\\/]lib[\\/]index\.js$/.test(importer)
        ? { path: path.join(root, "systemd/no-pool.cjs") }
        : undefined,
    );
  },
});

/** Of the server that hands requests to the app, HTTP/2: the box doesn't speak it, and loading Node's takes 1 MB of memory. */
const withoutHttp2 = (root) => ({
  name: "without-http2",
  setup({ onResolve }) {
    onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      /[\\/]@hono[\\/]node-server[\\/]/.test(importer)
        ? { path: path.join(root, "systemd/no-http2.mjs") }
        : undefined,
    );
  },
});
