import { type Argon2Parameters, argon2, timingSafeEqual } from "node:crypto";
import { ServiceError } from "./errors.ts";
import type { Random } from "./random.ts";

/** The cost of one argon2id hash (RFC 9106 §3.1). */
export interface Cost {
  /** KiB. */
  memory: number;
  passes: number;
  lanes: number;
}

/** contract §2: 19 MiB, two passes, one lane. */
export const standardCost: Cost = { memory: 19_456, passes: 2, lanes: 1 };

/** The highest cost of a stored hash. Its text decides how much memory and time a check takes. */
const MOST: Cost = { memory: 65_536, passes: 16, lanes: 4 };

const SALT_BYTES = 16;
const TAG_BYTES = 32;
const MOST_WAITING = 8;

/** Hashes and checks passwords in another thread. Throws ServiceError overloaded when too many wait. */
export type Passwords = ReturnType<typeof createPasswords>;

/** One at a time, `waiting` behind it (default 8): each takes 19 MiB and a core for a while. */
export function createPasswords(
  random: Random,
  { cost = standardCost, waiting = MOST_WAITING }: { cost?: Cost; waiting?: number } = {},
) {
  let last: Promise<unknown> = Promise.resolve();
  let held = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (held > waiting) {
      const message = "Too many passwords are being checked: try again in a moment.";
      throw new ServiceError("overloaded", message, { retryAfter: 1 });
    }
    held += 1;
    const run = last.then(work);
    last = run.catch(() => {});
    try {
      return await run;
    } finally {
      held -= 1;
    }
  };

  return {
    /** Returns the PHC string to store. */
    hash: (password: string) =>
      inTurn(async () => {
        const salt = random.bytes(SALT_BYTES);
        const tag = await derive(password, { cost, salt, tagBytes: TAG_BYTES });
        return formatPhc({ cost, salt, tag });
      }),
    /**
     * Whether `phc` is the hash of `password`. Where `phc` is null or unreadable it returns false after the same work, so
     * the time doesn't reveal whether there was a hash.
     */
    verify: (password: string, phc: string | null) =>
      inTurn(async () => {
        const kept = phc === null ? null : parsePhc(phc);
        if (kept === null) {
          await derive(password, { cost, salt: Buffer.alloc(SALT_BYTES), tagBytes: TAG_BYTES });
          return false;
        }
        const { salt, tag } = kept;
        const found = await derive(password, { cost: kept.cost, salt, tagBytes: tag.length });
        return timingSafeEqual(found, tag);
      }),
  };
}

/** Normalises the text first: the same characters, typed on another keyboard, are the same password. */
function derive(
  password: string,
  { cost, salt, tagBytes }: { cost: Cost; salt: Buffer; tagBytes: number },
): Promise<Buffer> {
  const parameters: Argon2Parameters = {
    message: password.normalize("NFC"),
    nonce: salt,
    parallelism: cost.lanes,
    tagLength: tagBytes,
    memory: cost.memory,
    passes: cost.passes,
  };
  return new Promise((resolve, reject) => {
    argon2("argon2id", parameters, (error, tag) => (error ? reject(error) : resolve(tag)));
  });
}

/** The parts of a stored hash. */
export interface Kept {
  cost: Cost;
  salt: Buffer;
  tag: Buffer;
}

/** `$argon2id$v=19$m=…,t=…,p=…$salt$tag`, base64 without padding (the PHC string format). */
export function formatPhc({ cost, salt, tag }: Kept): string {
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.lanes}`;
  return `$argon2id$v=19$${parameters}$${base64(salt)}$${base64(tag)}`;
}

const PHC =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,5}),t=([1-9]\d?),p=([1-9])\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Parses a PHC string; null for other text and for a cost above the limit. */
export function parsePhc(text: string): Kept | null {
  const found = PHC.exec(text);
  if (found === null) return null;
  const [memory = 0, passes = 0, lanes = 0] = found.slice(1, 4).map(Number);
  if (memory > MOST.memory || passes > MOST.passes || lanes > MOST.lanes) return null;
  if (memory < 8 * lanes) return null;
  const [salt, tag] = found.slice(4).map((part) => Buffer.from(part, "base64"));
  return salt && tag ? { cost: { memory, passes, lanes }, salt, tag } : null;
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
