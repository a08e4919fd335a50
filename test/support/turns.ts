/** What one turn of this thread's loop took at the most. */
export interface Turns {
  /** In milliseconds of its own work: a busy machine that lets it wait doesn't count. */
  readonly longest: number;
  stop(): void;
}

/** Watches the loop from now on. */
export function watchTurns(): Turns {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let longest = 0;
  let last = used();
  const timer = setInterval(() => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  return {
    get longest() {
      return Math.max(longest, used() - last);
    },
    stop: () => clearInterval(timer),
  };
}
