import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Seeded } from "../../src/app/prove/seeded.ts";
import { type Op, opened, ops } from "./recording.ts";

/** What a file keeps for certain, and what was written since its last sync. */
interface File {
  durable: Content;
  pending: Change[];
}

/** The first `length` bytes of a buffer that may be larger. */
interface Content {
  buffer: Buffer;
  length: number;
}

type Change = { kind: "write"; at: number; data: Buffer } | { kind: "length"; length: number };

/** A change of names; in order, and kept for certain once their directory was synced. */
type Naming = { name: string; file: File | null };

/** How much of what wasn't synced the power cut leaves. */
export const modes = ["none", "prefix", "subset", "torn"] as const;
export type Mode = (typeof modes)[number];

const SECTOR = 512;

/** A disk that knows of each byte and name whether it would outlast a power cut now. */
export interface Disk {
  /** Goes on by one recorded operation. */
  apply(op: Op): void;
  /** Lays down what a cut at this moment leaves. */
  cut(mode: Mode, choice: Seeded, to: string): void;
}

/** `root`: the recorded directory; every name below it is the disk's. */
export function createDisk(root: string): Disk {
  /** Names as processes see them, and as they are kept for certain. */
  const names = new Map<string, File>();
  const keptNames = new Map<string, File>();
  let namings: Naming[] = [];
  /** What each process has open: a file, or a directory (its name). */
  const handles = new Map<string, File | string>();

  const name = (path: string) => path.slice(root.length + 1);
  const give = (path: string, file: File | null) => {
    if (file === null) names.delete(path);
    else names.set(path, file);
    namings.push({ name: path, file });
  };

  const open = (op: Op) => {
    const path = name(op.data.toString());
    const handle = `${op.pid} ${op.fd}`;
    if ((op.flags & opened.directory) !== 0) return void handles.set(handle, path);
    let file = names.get(path);
    if (file === undefined || (op.flags & opened.made) !== 0) {
      file = { durable: { buffer: Buffer.alloc(0), length: 0 }, pending: [] };
      give(path, file);
    }
    if ((op.flags & opened.emptied) !== 0) file.pending.push({ kind: "length", length: 0 });
    handles.set(handle, file);
  };

  const sync = (found: File | string) => {
    if (typeof found !== "string") {
      for (const change of found.pending) make(found.durable, change);
      found.pending = [];
      return;
    }
    const isHere = (naming: Naming) => parent(naming.name) === found;
    for (const { name: at, file } of namings.filter(isHere)) keep(keptNames, at, file);
    namings = namings.filter((naming) => !isHere(naming));
  };

  return {
    apply(op) {
      const handle = `${op.pid} ${op.fd}`;
      const found = handles.get(handle);
      if (op.op === ops.open) open(op);
      else if (op.op === ops.close) handles.delete(handle);
      else if (op.op === ops.unlink) give(name(op.data.toString()), null);
      else if (op.op === ops.rename || op.op === ops.link) {
        const [from = "", to = ""] = op.data.toString().split("\n").map(name);
        give(to, names.get(from) ?? null);
        if (op.op === ops.rename) give(from, null);
      } else if (found === undefined) return;
      else if (op.op === ops.sync) sync(found);
      else if (typeof found === "string") return;
      else if (op.op === ops.write)
        found.pending.push({ kind: "write", at: op.offset, data: op.data });
      else if (op.op === ops.truncate) found.pending.push({ kind: "length", length: op.offset });
    },
    cut(mode, choice, to) {
      rmSync(to, { recursive: true, force: true });
      mkdirSync(to, { recursive: true });
      const left = new Map(keptNames);
      const known = choice.chance(0.5) ? namings.length : choice.between(0, namings.length);
      for (const naming of namings.slice(0, known)) keep(left, naming.name, naming.file);
      for (const [path, file] of left) {
        // Shared memory is made anew.
        if (path.endsWith("-shm")) continue;
        mkdirSync(dirname(join(to, path)), { recursive: true, mode: 0o700 });
        writeFileSync(join(to, path), afterCut(file, mode, choice), { mode: 0o600 });
      }
    },
  };
}

function keep(names: Map<string, File>, name: string, file: File | null): void {
  if (file === null) names.delete(name);
  else names.set(name, file);
}

const parent = (path: string) => (path.includes("/") ? dirname(path) : "");

function afterCut(file: File, mode: Mode, choice: Seeded): Buffer {
  const { pending } = file;
  let left: Change[] = [];
  if (mode === "prefix") left = pending.slice(0, choice.between(0, pending.length));
  if (mode === "subset") left = pending.filter(() => choice.chance(0.5));
  if (mode === "torn") left = pending.flatMap((change) => torn(change, choice));
  const { buffer, length } = file.durable;
  const kept = buffer.subarray(0, length);
  if (left.length === 0) return kept;
  const content = { buffer: Buffer.from(kept), length };
  for (const change of left) make(content, change);
  return content.buffer.subarray(0, content.length);
}

/** Half of the writes whole, of the others some sectors. */
function torn(change: Change, choice: Seeded): Change[] {
  if (change.kind !== "write" || choice.chance(0.5)) return [change];
  const sectors: Change[] = [];
  for (let from = 0; from < change.data.length; from += SECTOR) {
    const data = change.data.subarray(from, from + SECTOR);
    if (choice.chance(0.5)) sectors.push({ kind: "write", at: change.at + from, data });
  }
  return sectors;
}

function make(content: Content, change: Change): void {
  if (change.kind === "length") {
    reserve(content, change.length);
    content.buffer.fill(0, Math.min(content.length, change.length));
    content.length = change.length;
    return;
  }
  const end = change.at + change.data.length;
  reserve(content, end);
  change.data.copy(content.buffer, change.at);
  content.length = Math.max(content.length, end);
}

/** What lies past the length is always zero. */
function reserve(content: Content, length: number): void {
  if (length <= content.buffer.length) return;
  const larger = Buffer.alloc(Math.max(length, 2 * content.buffer.length));
  content.buffer.copy(larger, 0, 0, content.length);
  content.buffer = larger;
}
