import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { giveToOwner } from "../../kit/owner.ts";
import { syncDirectory } from "../files.ts";
import type { Told } from "./standing.ts";

const NAME = "unconfirmed.ndjson";
/** So much of it is read at once when it is handed over. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What was told while this disk alone had it. */
export interface Unconfirmed {
  /** Synced before it returns. false: there is no room for it any more, and nothing was written. */
  note(commit: number, all: readonly object[]): boolean;
  /** The place has everything up to this commit. */
  kept(commit: number): void;
}

interface UnconfirmedLine extends Told {
  what: unknown;
}

const head = z.object({
  /** Of this file alone, so that whoever is given its lines twice knows them. */
  id: z.string(),
  /** Whose lines they are, and under which epoch they were noted: the directory's mark may be gone. */
  tenant: z.string().nullable().default(null),
  epoch: z.int().default(0),
});
type Head = z.output<typeof head>;

/** What a directory's file holds. */
interface UnconfirmedLines extends Head {
  lines: UnconfirmedLine[];
}
const line = z.object({ commit: z.int(), what: z.unknown() });

/** null where nothing was noted, or the file is of nobody. */
export function readUnconfirmed(data: string): UnconfirmedLines | null {
  const { end: _, ...found } = readFile(join(data, NAME));
  return found.lines.length === 0 ? null : found;
}

/** Up to the first line that can't be read: what a crash or a full disk cut off was told to nobody, and is the last. */
function readFile(path: string): UnconfirmedLines & { end: number } {
  const found = { ...head.parse({ id: "" }), lines: [] as UnconfirmedLine[], end: 0 };
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  try {
    for (let end = bytes.indexOf("\n"); end >= 0; end = bytes.indexOf("\n", found.end)) {
      const said: unknown = JSON.parse(bytes.toString("utf8", found.end, end));
      if (found.end === 0) Object.assign(found, head.parse(said));
      else found.lines.push(line.parse(said));
      found.end = end + 1;
    }
  } catch {
    return found;
  }
  return found;
}

export function dropUnconfirmed(data: string): void {
  rmSync(join(data, NAME), { force: true });
  syncDirectory(data);
}

/** Keeps a file that nobody can be given, under another name, which it returns. */
export function setUnconfirmedAside(data: string, { id }: Pick<Head, "id">): string {
  const to = join(data, `unconfirmed-${id}.ndjson`);
  renameSync(join(data, NAME), to);
  syncDirectory(data);
  return to;
}

/** `newHead` is that of a file that is made. */
export function openUnconfirmed(
  data: string,
  newHead: () => Head,
  mostBytes = MOST_BYTES,
): Unconfirmed {
  const path = join(data, NAME);
  /** The latest commit that something was noted of; null: there is no file. */
  let latest = latestIn(readUnconfirmed(data));
  let file: { fd: number; end: number } | null = null;

  const append = (to: { fd: number; end: number }, bytes: Uint8Array) => {
    // What a failed try left is overwritten.
    for (let at = 0; at < bytes.length; )
      at += writeSync(to.fd, bytes, at, bytes.length - at, to.end + at);
    fdatasyncSync(to.fd);
    to.end += bytes.length;
  };
  const begin = () => {
    const isNew = latest === null;
    const fd = openSync(path, isNew ? "w+" : "r+", 0o600);
    try {
      const opened = { fd, end: isNew ? 0 : readFile(path).end };
      ftruncateSync(fd, opened.end);
      if (!isNew) return opened;
      append(opened, Buffer.from(`${JSON.stringify(newHead())}\n`));
      giveToOwner(path, data);
      syncDirectory(data);
      return opened;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  };
  return {
    note(commit, all) {
      const said = all.map((what) => `${JSON.stringify({ commit, what })}\n`).join("");
      if (said === "") return true;
      const bytes = Buffer.from(said);
      try {
        file ??= begin();
        if (file.end + bytes.length > mostBytes) return false;
        append(file, bytes);
      } catch {
        // A full disk, or one that takes nothing any more.
        return false;
      }
      latest = Math.max(latest ?? 0, commit);
      return true;
    },
    kept(commit) {
      if (latest === null || latest > commit) return;
      if (file !== null) closeSync(file.fd);
      file = null;
      latest = null;
      dropUnconfirmed(data);
    },
  };
}

const latestIn = (found: UnconfirmedLines | null): number | null =>
  found === null ? null : found.lines.reduce((most, { commit }) => Math.max(most, commit), 0);
