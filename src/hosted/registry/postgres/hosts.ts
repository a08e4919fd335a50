import { seenInMemory } from "../generation.ts";
import { DatabaseAway, endOf, isSilence, messageOf } from "./database-faults.ts";
import { type DatabaseHost, shownHost } from "./database-url.ts";
import { type DatabaseLine, type LineOptions, openLine } from "./line.ts";

/** How long to ask the other hosts, all at once, whether one of them was promoted. */
const LOOK_MS = 1_000;

/**
 * Opens connections: each to the first host that accepts writes, beginning with the last one used. The first time all
 * hosts are asked, and the one that was promoted last is taken. Rejects with DatabaseAway.
 */
export function lineOpener(options: LineOptions): (ms: number) => Promise<DatabaseLine> {
  const { url, clock, seen = seenInMemory() } = options;
  const { hosts } = url;
  let last = 0;
  let hasLooked = false;
  const told = { plain: false, bare: false, ageless: false };
  return async (ms) => {
    const until = clock.mono() + ms;
    const faults: HostFault[] = [];
    const found: DatabaseLine[] = [];
    for (let n = 0; n < hosts.length && (found.length === 0 || !hasLooked); n++) {
      const host = (last + n) % hosts.length;
      // A host that doesn't answer leaves time for the others.
      const share = Math.max(0, until - clock.mono()) / (hosts.length - n);
      const most = found.length === 0 ? share : Math.min(share, LOOK_MS);
      try {
        found.push(await openLine(options, host, { ms: most, told, seen }));
      } catch (error) {
        faults.push({ host: hosts[host] as DatabaseHost, error });
      }
    }
    // A host with an older generation counts as broken once a newer one was seen.
    const line = found.find((one) => !one.isBroken());
    for (const one of found) if (one !== line) one.hangUp();
    if (line === undefined) throw allFailed(faults);
    hasLooked = true;
    last = line.host;
    return line;
  };
}

interface HostFault {
  host: DatabaseHost;
  error: unknown;
}

/** Why each host failed. Waiting helps while at least one of them can recover by itself. */
function allFailed(faults: readonly HostFault[]): DatabaseAway {
  const isRefusal = faults.length > 0 && faults.every(({ error }) => endOf(error) !== "lost");
  const isSilent = faults.every(({ error }) => isSilence(error));
  const [first] = faults;
  const why =
    faults.length === 1
      ? messageOf(first?.error)
      : faults.map(({ host, error }) => `${shownHost(host)}: ${messageOf(error)}`).join("; ");
  return new DatabaseAway(why || "no host", {
    cause: first?.error,
    isRefusal,
    isSilence: isSilent,
  });
}
