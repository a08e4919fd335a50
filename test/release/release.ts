import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { must } from "./machine.ts";

const root = join(import.meta.dirname, "../..");
/** All that a release is made of, but for the documents. */
const SOURCES = ["src", "cli", "migrations", "systemd", "build.mjs", "package-lock.json"];

/**
 * The package of this tree for a Debian architecture: the one under dist/release where nothing has
 * changed since it was made, else a new one. `BOX_RELEASE` names a folder to take it from as it is.
 */
export async function debianPackageOf(arch: "amd64" | "arm64"): Promise<string> {
  const given = process.env["BOX_RELEASE"];
  const folder = given ?? join(root, "dist/release");
  if (given === undefined && madeAt(folder) < newest())
    await must([process.execPath, join(root, "build.mjs"), "release"]);
  const name = readdirSync(folder).find((file) => file.endsWith(`_${arch}.deb`));
  if (name === undefined) throw new Error(`${folder} holds no package for ${arch}`);
  return join(folder, name);
}

/** The sums are written last. */
function madeAt(folder: string): number {
  return statSync(join(folder, "SHA256SUMS"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newest(): number {
  const files = SOURCES.flatMap((name) => {
    const path = join(root, name);
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { recursive: true, encoding: "utf8" }).map((file) => join(path, file));
  });
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}
