import { randomBytes, randomFillSync } from "node:crypto";

/** Randomness as a thing that is handed in, so that a simulation can seed it. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Buffer;
  /** A number in [0, 1). For jitter, never for secrets. */
  fraction(): number;
}

/** Asking the operating system costs more than copying: what is asked for in small pieces comes from a pool. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function pooled(n: number): Buffer {
  if (used + n > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + n));
  // What was handed out is kept nowhere else.
  pool.fill(0, used, used + n);
  used += n;
  return bytes;
}

export const systemRandom: Random = {
  bytes: (n) => (n <= 64 ? pooled(n) : randomBytes(n)),
  fraction: () => pooled(4).readUInt32BE() / 2 ** 32,
};
