import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";

/** A fuzzer that follows coverage, apart from the tree: it is needed nowhere else and stays in a temporary folder. */
export interface Jazzer {
  /** One CommonJS file with every target and all that it uses, so that just this is instrumented. */
  bundle: string;
  command: string;
  env: NodeJS.ProcessEnv;
}

const VERSION = "4.0.0";

/** The newest glibc that the fuzzer's addon asks for. */
const GLIBC = 2.38;

/** Symbols of a newer glibc and libstdc++ that are the older ones by another name. */
const SHIM = `#include <cstdlib>
#include <iostream>
extern "C" {
long __isoc23_strtol(const char *s, char **e, int b) { return strtol(s, e, b); }
unsigned long __isoc23_strtoul(const char *s, char **e, int b) { return strtoul(s, e, b); }
void _ZSt21ios_base_library_initv() { static std::ios_base::Init i; }
}
`;

/** Installs and prepares it; a sentence where it can't be had. */
export function prepareJazzer(): Jazzer | string {
  const folder = join(tmpdir(), `box-fuzz-${VERSION}`);
  const main = join(folder, "node_modules/@jazzer.js/core/dist/cli.js");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(main)) {
    writeFileSync(join(folder, "package.json"), "{}");
    const args = ["install", "--no-save", "--ignore-scripts", `@jazzer.js/core@${VERSION}`];
    const { status } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 120_000 });
    if (status !== 0 || !existsSync(main))
      return `@jazzer.js/core ${VERSION} could not be installed`;
  }
  const env = { ...process.env, ...shim(folder) };
  const bundle = join(folder, "targets.cjs");
  buildSync({
    entryPoints: [join(import.meta.dirname, "targets.entry.ts")],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: bundle,
    logLevel: "error",
    // kit/assets.ts asks, for the file that holds the version, and samples that read a fixture.
    define: {
      "import.meta.dirname": JSON.stringify(join(import.meta.dirname, "../../src/ground/kit")),
    },
  });
  return { bundle, command: main, env };
}

/** Makes the addon load on a glibc older than the one it was built on. */
function shim(folder: string): NodeJS.ProcessEnv {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const [major = 0, minor = 0] = (report.header?.glibcVersionRuntime ?? "9.9")
    .split(".")
    .map(Number);
  if (major + minor / 100 >= GLIBC) return {};
  const addon = join(folder, "node_modules/@jazzer.js/fuzzer/prebuilds/fuzzer-linux-x64.node");
  writeFileSync(addon, weaken(readFileSync(addon)));
  const library = join(folder, "shim.so");
  writeFileSync(join(folder, "shim.cc"), SHIM);
  const built = spawnSync("g++", [
    "-shared",
    "-fPIC",
    "-O1",
    "-o",
    library,
    join(folder, "shim.cc"),
  ]);
  return built.status === 0 ? { LD_PRELOAD: library } : {};
}

const VERNEED = 0x6ffffffe;
const WEAK = 2;

/** Marks the newer versions that an ELF file needs as weak, so that the loader goes on without them. */
function weaken(elf: Buffer): Buffer {
  const [table, size, count] = [
    Number(elf.readBigUInt64LE(0x28)),
    elf.readUInt16LE(0x3a),
    elf.readUInt16LE(0x3c),
  ];
  const section = (n: number) => ({
    type: elf.readUInt32LE(table + n * size + 4),
    offset: Number(elf.readBigUInt64LE(table + n * size + 24)),
    link: elf.readUInt32LE(table + n * size + 40),
    info: elf.readUInt32LE(table + n * size + 44),
  });
  const needs = Array.from({ length: count }, (_, n) => section(n)).find(
    ({ type }) => type === VERNEED,
  );
  if (needs === undefined) return elf;
  const names = section(needs.link).offset;
  let at = needs.offset;
  for (let n = 0; n < needs.info; n++) {
    let version = at + elf.readUInt32LE(at + 8);
    for (let left = elf.readUInt16LE(at + 2); left > 0; left--) {
      const name = names + elf.readUInt32LE(version + 8);
      const text = elf.toString("latin1", name, elf.indexOf(0, name));
      if (/^(GLIBC_2\.(3[7-9]|4\d)|GLIBCXX_3\.4\.3[1-9])$/.test(text))
        elf.writeUInt16LE(elf.readUInt16LE(version + 4) | WEAK, version + 4);
      version += elf.readUInt32LE(version + 12);
    }
    at += elf.readUInt32LE(at + 12);
  }
  return elf;
}
