import { randomBytes, randomFillSync } from "node:crypto";

/** Randomness is passed to all code, so that a simulation can seed it. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Buffer;
  /** A number in [0, 1), for jitter. Never for secrets. */
  fraction(): number;
}

/** Small requests are served from this buffer, because each call of the operating system costs more than copying. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function pooled(n: number): Buffer {
  if (used + n > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + n));
  // Bytes that were given out are erased here.
  pool.fill(0, used, used + n);
  used += n;
  return bytes;
}

export const systemRandom: Random = {
  bytes: (n) => (n <= 64 ? pooled(n) : randomBytes(n)),
  fraction: () => pooled(4).readUInt32BE() / 2 ** 32,
};
