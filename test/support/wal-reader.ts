import { readFileSync } from "node:fs";
import { readWalFrames, readWalHead } from "../../src/ground/store/record/wal.ts";

const HEAD = 32;

/** The database that a store's files make, as SQLite finds it at the next start: a second judge, without SQLite. */
export function databaseOf(path: string): Buffer {
  return withLog(readFileSync(path), readFileSync(`${path}-wal`));
}

function withLog(file: Buffer, log: Buffer): Buffer {
  const head = readWalHead(log);
  const found = head && readWalFrames(log.subarray(HEAD), head);
  if (!found || found.commits === 0) return file;
  const { pageSize } = head;
  const whole = Buffer.alloc(found.pageCount * pageSize);
  file.copy(whole, 0, 0, Math.min(file.length, whole.length));
  for (const [page, image] of found.pages)
    if (page <= found.pageCount) image.copy(whole, (page - 1) * pageSize);
  return whole;
}
