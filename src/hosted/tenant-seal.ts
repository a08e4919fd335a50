import { statSync } from "node:fs";
import { sha256 } from "../ground/kit/ids.ts";
import type { Reader } from "../ground/store/store.ts";
import type { Registry } from "./registry/registry.ts";
import type { Seal } from "./registry/seals.ts";

/** There is no file. */
export const ABSENT = "absent";
/** Another process has it open, or left it so: its contents are unknown. */
export const IN_USE = "in use";

/**
 * Identifies the state of a store's file. Every write to it, and every replacement, changes the ctime of its inode,
 * which no program can set.
 */
export function storeStamp(path: string): string {
  const { ino, size, ctimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
  if (ino === undefined) return ABSENT;
  if (statSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined) return IN_USE;
  return `${ino}:${size}:${ctimeNs}`;
}

/** The hashes of all tokens that open this tenant: API keys and ingest tokens. */
export function tokenHashes(reader: Reader): string[] {
  return reader
    .sql<[], string>("SELECT hash FROM api_keys UNION ALL SELECT token_hash FROM sources")
    .pluck()
    .all();
}

/** Seals a store that was just closed. False, without a seal, if it isn't closed or was written to meanwhile. */
export async function sealStore({ seals }: Registry, seal: Seal): Promise<boolean> {
  return seal.files !== ABSENT && seal.files !== IN_USE && seals.put(seal);
}

/**
 * Whether a token may open this closed tenant. True when in doubt: a valid token must not be refused because registry
 * and store are out of step.
 */
export async function mayOpen(
  { seals }: Registry,
  { tenantId, files, token }: { tenantId: string; files: string; token: string },
): Promise<boolean> {
  const seal = await seals.judge(tenantId, sha256(token));
  if (files === ABSENT) return false;
  return seal === null || seal.knows || seal.files !== files;
}

const PAGE = 500;

/** The tenants whose stores changed since the registry saw them, so that its index may be out of date. */
export async function* outOfStep(
  { seals }: Registry,
  path: (id: string) => string,
): AsyncGenerator<string> {
  for (let after = ""; ; ) {
    const page = await seals.list({ after, limit: PAGE });
    for (const { id, files } of page) {
      const stamp = storeStamp(path(id));
      if (stamp !== ABSENT && stamp !== files) yield id;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
