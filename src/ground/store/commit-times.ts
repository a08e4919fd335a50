const KEPT = 512;

/** How long the latest commits took. Each commit stores one number. */
export function createCommitTimes() {
  const times = new Float64Array(KEPT);
  let count = 0;
  return {
    /** Milliseconds. */
    add(ms: number) {
      times[count % KEPT] = ms;
      count += 1;
    },
    get latest() {
      return count === 0 ? 0 : (times[(count - 1) % KEPT] ?? 0);
    },
    /** At most `KEPT`, in no order. */
    all: () => times.slice(0, Math.min(count, KEPT)),
  };
}
