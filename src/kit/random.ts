import { randomBytes } from "node:crypto";

/** Randomness as a thing that is handed in, so that a simulation can seed it. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Buffer;
  /** A number in [0, 1). For jitter, never for secrets. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (n) => randomBytes(n),
  fraction: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};
