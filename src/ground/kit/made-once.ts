/**
 * `make`, called once for each key: what it gives is shared, and has to be unchangeable. A schema takes 1 KB, and each
 * start asked for thousands that were equal.
 */
export function madeOnce<Of extends unknown[], T>(
  make: (...of: Of) => T,
  key: (...of: Of) => unknown = (...of) => String(of),
): (...of: Of) => T {
  const made = new Map<unknown, T>();
  return (...of) => {
    const by = key(...of);
    return made.getOrInsertComputed(by, () => make(...of));
  };
}
