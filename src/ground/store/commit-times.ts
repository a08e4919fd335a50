/** How long the latest commits took. Each commit stores one number. */
interface CommitTimes {
  /** Milliseconds. */
  add(ms: number): void;
  readonly latest: number;
  /** At most `KEPT`, in no order. */
  all(): Float64Array;
}

const KEPT = 512;

export function createCommitTimes(): CommitTimes {
  const times = new Float64Array(KEPT);
  let count = 0;
  return {
    add(ms) {
      times[count % KEPT] = ms;
      count += 1;
    },
    get latest() {
      return count === 0 ? 0 : (times[(count - 1) % KEPT] ?? 0);
    },
    all: () => times.slice(0, Math.min(count, KEPT)),
  };
}
