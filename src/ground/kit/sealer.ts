import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";
import {
  type KeyFileFault,
  type KeyRing,
  loadKeyRing,
  type OpenedKeys,
  openKeyRing,
} from "./key-ring.ts";
import type { Random } from "./random.ts";
import { keyIdOf, mac, open, seal } from "./seal.ts";

/** Encrypts stored secrets and opens them again. */
export interface Sealer {
  /** `place` names where the value is stored; it can't be opened for another place. */
  seal(text: string, place: string): string;
  /** null where its key is missing or the value was changed: the program goes on without it. */
  open(sealed: string, place: string): string | null;
  /** Whether the key of a sealed value is here. */
  holds(sealed: string): boolean;
  /** Whether a value is sealed with the present key. */
  isPresent(sealed: string): boolean;
  /**
   * Signatures of a text for a purpose, 22 base64url characters each. The first is made with the present key, the
   * others with earlier keys, for what was signed before a rotation.
   */
  macs(purpose: string, text: string): string[];
  /** Reads the key files again, for a new key. Nothing where the ring is fixed. */
  readAgain(): void;
}

/** A sealer with a fixed ring. */
export function ringSealer(ring: KeyRing): Sealer {
  return sealerOf(
    () => ring,
    () => false,
  );
}

/** A sealer with the key files of a directory. */
export interface FileSealer extends Sealer {
  /** Key files that can't be used. */
  readonly faults: readonly KeyFileFault[];
  /** Key ids that stored values named at the start and no file held. */
  readonly missing: OpenedKeys["missing"];
}

/** Milliseconds between two reads of the files, when a value names an unknown key. */
const READ_AGAIN_MS = 1000;

/**
 * Opens the key files of `dir` as `openKeyRing` does. When a value names a key that another process added later, the
 * files are read again, so neither process needs a restart.
 */
export function fileSealer(options: {
  dir: string;
  name: string;
  inUse: readonly string[];
  clock: Clock;
  random: Random;
}): FileSealer {
  const { dir, name, inUse, clock, random } = options;
  const opened = openKeyRing({ dir, name, inUse, random });
  let ring = opened.ring;
  let readAt = Number.NEGATIVE_INFINITY;
  const readNow = () => {
    readAt = clock.mono();
    ring = loadKeyRing(dir, name, random).ring ?? ring;
  };
  const readAgain = (): boolean => {
    if (clock.mono() - readAt < READ_AGAIN_MS) return false;
    readNow();
    return true;
  };
  const sealer = sealerOf(() => ring, readAgain);
  return { ...sealer, readAgain: readNow, faults: opened.faults, missing: opened.missing };
}

/** Opened values kept in memory. Each attempt at an endpoint needs its secret, and opening costs as much as signing. */
const MOST_OPEN = 256;

function sealerOf(ring: () => KeyRing, readAgain: () => boolean): Sealer {
  const kept = new LRUCache<string, string>({ max: MOST_OPEN });
  const holds = (sealed: string): boolean => {
    const id = keyIdOf(sealed);
    if (id === null) return false;
    return ring().keys.has(id) || (readAgain() && ring().keys.has(id));
  };
  return {
    seal: (text, place) => seal(ring(), text, place),
    open(sealed, place) {
      const name = `${place} ${sealed}`;
      const present = kept.get(name);
      if (present !== undefined) return present;
      if (!holds(sealed)) return null;
      const opened = open(ring(), sealed, place);
      if (!opened.ok) return null;
      kept.set(name, opened.text);
      return opened.text;
    },
    holds,
    isPresent: (sealed) => keyIdOf(sealed) === ring().present.id,
    macs(purpose, text) {
      const { present, keys } = ring();
      const others = [...keys.values()].filter(({ id }) => id !== present.id);
      return [present, ...others].map((key) => mac(key, purpose, text));
    },
    readAgain() {},
  };
}
