import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Machine, must, run, startServing } from "./machine.ts";

const EMULATOR = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"] as const;

/** The executable of an arm64 package, in an emulator of its processor. */
export interface Emulated extends Machine {
  remove(): void;
}

export async function emulated(deb: string): Promise<Emulated> {
  const home = mkdtempSync(join(tmpdir(), "box-arm64-"));
  const unpack = () => must(["dpkg-deb", "--extract", deb, join(home, "root")]);
  const box = [...EMULATOR, join(home, "root/usr/bin/box")];
  const data = join(home, "data");
  const how = {
    cwd: "/",
    env: { BOX_DATA: data, BOX_CACHE_DIR: join(home, "cache"), PATH: process.env["PATH"] ?? "" },
  };
  await unpack();
  return {
    backup: join(home, "backup.db"),
    box: async (...words) => JSON.parse(await must([...box, ...words, "--json"], how)),
    serve: () => startServing([...box, "serve", "--listen", "127.0.0.1:0"], how),
    async reinstall() {
      rmSync(join(home, "root"), { recursive: true });
      await unpack();
    },
    async loseData() {
      rmSync(data, { recursive: true });
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Why there is no emulator here; null where there is one. */
export async function noEmulator(): Promise<string | null> {
  const found = await run(["sh", "-c", `command -v ${EMULATOR[0]} && command -v dpkg-deb`]);
  if (found.code !== 0) return `${EMULATOR[0]} or dpkg-deb is missing`;
  return existsSync(`${EMULATOR[2]}/lib/libatomic.so.1`) ? null : `${EMULATOR[2]} has no libatomic`;
}
