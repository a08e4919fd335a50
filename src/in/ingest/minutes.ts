/** Events of the last hour by the minute, in memory. Times are Unix seconds. */
export type Minutes = ReturnType<typeof createMinutes>;

const HOUR = 60;

export function createMinutes() {
  const ring = new Uint32Array(HOUR);
  let newest = Number.NaN;
  const turn = (minute: number) => {
    const passed = minute - newest;
    // At the first event, and after the clock was set back, nothing of the hour is known.
    if (!(passed >= 0 && passed < HOUR)) ring.fill(0);
    else for (let at = newest + 1; at <= minute; at++) ring[at % HOUR] = 0;
    newest = minute;
  };
  return {
    add(at: number, n: number) {
      const minute = Math.floor(at / 60);
      if (minute !== newest) turn(minute);
      ring[minute % HOUR] = (ring[minute % HOUR] ?? 0) + n;
    },
    /** Sixty counts that end with the minute of `at`. */
    until(at: number): number[] {
      const minute = Math.floor(at / 60);
      return Array.from({ length: HOUR }, (_, i) => {
        const wanted = minute - HOUR + 1 + i;
        const isKept = wanted <= newest && wanted > newest - HOUR;
        return isKept ? (ring[wanted % HOUR] ?? 0) : 0;
      });
    },
  };
}
