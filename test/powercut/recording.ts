import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a record of the log is of: the first eight as recorder.c has them, the others the test's own. */
export const ops = {
  open: 1,
  close: 2,
  write: 3,
  truncate: 4,
  sync: 5,
  unlink: 6,
  rename: 7,
  link: 8,
  /** Something was answered "yes", and has to be there from now on. */
  ack: 100,
  /** A part of the story begins. */
  part: 101,
} as const;

/** How a file was opened, as recorder.c has it. */
export const opened = { emptied: 1, directory: 2, made: 4 } as const;

export interface Op {
  op: number;
  pid: number;
  fd: number;
  /** open: a sum of `opened`. */
  flags: number;
  /** write: where; truncate: the length. */
  offset: number;
  data: Buffer;
}

/** A directory whose every change is recorded while programs with this environment run in it. */
export interface Recording {
  readonly directory: string;
  readonly env: Record<string, string>;
  /** Where states may be laid down: in memory where that can be, since each is synced by those who look. */
  readonly into: string;
  ack(what: string): void;
  part(name: string): void;
  read(): Op[];
  discard(): void;
}

const HEAD = 32;

/** Compiles the recorder with gcc. */
export function startRecording(): Recording {
  const root = mkdtempSync(join(tmpdir(), "box-powercut-"));
  const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const into = mkdtempSync(join(memory, "box-powercut-"));
  const directory = join(root, "disk");
  const library = join(root, "recorder.so");
  const log = join(root, "log");
  mkdirSync(directory);
  const source = join(import.meta.dirname, "recorder.c");
  execFileSync("gcc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
  const put = (op: number, text: string) => appendFileSync(log, record(op, text));
  return {
    directory,
    into,
    env: { LD_PRELOAD: library, PC_DIR: directory, PC_LOG: log },
    ack: (what) => put(ops.ack, what),
    part: (name) => put(ops.part, name),
    read: () => (existsSync(log) ? parse(readFileSync(log)) : []),
    discard() {
      for (const made of [root, into]) rmSync(made, { recursive: true, force: true });
    },
  };
}

/** Says in the log that something was answered "yes". */
export const ackRecord = (what: string): Buffer => record(ops.ack, what);

function record(op: number, text: string): Buffer {
  const data = Buffer.from(text);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(op, 0);
  head.writeBigUInt64LE(BigInt(data.length), 24);
  return Buffer.concat([head, data]);
}

function parse(log: Buffer): Op[] {
  const found: Op[] = [];
  for (let at = 0; at + HEAD <= log.length; ) {
    const length = Number(log.readBigUInt64LE(at + 24));
    found.push({
      op: log.readUInt32LE(at),
      pid: log.readUInt32LE(at + 4),
      fd: log.readInt32LE(at + 8),
      flags: log.readUInt32LE(at + 12),
      offset: Number(log.readBigInt64LE(at + 16)),
      data: log.subarray(at + HEAD, at + HEAD + length),
    });
    at += HEAD + length;
  }
  return found;
}
