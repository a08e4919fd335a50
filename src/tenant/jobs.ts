import type { Sweep } from "../core/alerts/sweep.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Slices } from "../ground/kit/slices.ts";
import type { Store } from "../ground/store/store.ts";
import type { HeartbeatWatch } from "../in/heartbeats/watch.ts";
import type { IngestHandle } from "../in/ingest/handle.ts";
import { reckonDuty } from "../records/numbers/duty.ts";
import { isBehind, reckonSome } from "../records/numbers/reckon.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { Disk } from "./disk.ts";
import { zonesJob } from "./lost-zones.ts";
import type { Retention } from "./retention.ts";
import type { Job } from "./scheduler.ts";

interface TenantParts {
  watch: ClockWatch;
  sweep: Sweep;
  disk: Disk;
  retention: Retention;
  ingest: IngestHandle;
  heartbeats: HeartbeatWatch;
  store: Store;
  log: Log;
}

/** The jobs of one tenant, in the order in which they run. */
export function tenantJobs(parts: TenantParts): Job[] {
  return [
    parts.watch.job,
    waitingJob(parts),
    missingJob(parts),
    timedJob(parts),
    heartbeatJob(parts),
    diskJob(parts),
    retentionJob(parts),
    zonesJob(parts),
  ];
}

/** Timed work on alerts: ladders, renotify, auto-resolve (contract §5). */
function timedJob({ watch, sweep }: { watch: ClockWatch; sweep: Sweep }): Job {
  return {
    name: "timed",
    wokenBy: ["due"],
    run(now) {
      if (!watch.ready()) return (now + 1) * 1000;
      const next = sweep.run(watch.upSince());
      return next === null ? null : next * 1000;
    },
  };
}

/** Opens alerts of rules that wait (contract §5, for_minutes). */
function waitingJob({ watch, ingest }: TenantParts): Job {
  return {
    name: "waiting",
    wokenBy: ["waiting"],
    run(now) {
      if (!watch.ready()) return (now + 1) * 1000;
      const next = ingest.openWaiting();
      return next === null ? null : next * 1000;
    },
  };
}

/** Opens alerts for what rules call missing (contract §5). */
function missingJob({ watch, ingest }: TenantParts): Job {
  return {
    name: "missing",
    wokenBy: ["config", "downtime"],
    run(now) {
      if (!watch.ready()) return (now + 1) * 1000;
      const next = ingest.lookForMissing();
      if (next === null) return null;
      return next > now ? next * 1000 : now * 1000 + SLICE_REST_MS;
    },
  };
}

/** Opens alerts for missing heartbeats, and sends the events that rules still wait for (contract §25). */
function heartbeatJob({ watch, heartbeats }: TenantParts): Job {
  return {
    name: "heartbeats",
    wokenBy: ["heartbeats"],
    async run(now) {
      if (!watch.ready()) return (now + 1) * 1000;
      const next = await heartbeats.look();
      return next === null ? null : next * 1000;
    },
  };
}

const DISK_LOOK_SECONDS = 2;

/** Refuses events while the disk is nearly full. */
function diskJob({ disk, ingest }: TenantParts): Job {
  return {
    name: "disk",
    run(now) {
      disk.look();
      ingest.shed(disk.nearlyFull ? "storage_full" : null);
      return (now + DISK_LOOK_SECONDS) * 1000;
    },
  };
}

const RETENTION_SECONDS = 60;
/** Pause between two slices, in which ingest has the store to itself. */
const SLICE_REST_MS = 20;

/** Deletes old rows a slice at a time, unless the clock is in doubt. */
function retentionJob({ watch, retention }: TenantParts): Job {
  return {
    name: "retention",
    run(now) {
      if (watch.state().holdsDeletion) return (now + RETENTION_SECONDS) * 1000;
      return retention.slice() ? now * 1000 + SLICE_REST_MS : (now + RETENTION_SECONDS) * 1000;
    },
  };
}

/** How long one slice should take, because new events wait meanwhile. */
const RECKON_MS = 8;
/** Lines of history in one slice. */
const RECKONED = { least: 5, first: 25, most: 200 } as const;
/** Between two looks at history that wasn't reckoned yet. */
const NUMBERS_SECONDS = 60;

/** Adds what happened to its days, a slice at a time; days on call once they are over, unless the clock is in doubt. */
export function numbersJob(parts: { store: Store; slices: Slices; watch: ClockWatch }): Job {
  const { store: reader, slices, watch } = parts;
  let most: number = RECKONED.first;
  const reckon = () => {
    const before = reader.clock.mono();
    const more = reader.write((tx) => reckonSome(tx, most), { expendable: true });
    const isLong = reader.clock.mono() - before > RECKON_MS;
    const next = isLong ? most >> 1 : most + (most >> 2) + 1;
    most = Math.min(RECKONED.most, Math.max(RECKONED.least, next));
    return more;
  };
  return {
    name: "numbers",
    async run(now) {
      const soon = now * 1000 + SLICE_REST_MS;
      if (isBehind(reader) && reckon()) return soon;
      const isDoubtful = watch.state().holdsDeletion;
      if (!isDoubtful && (await reckonDuty({ reader, slices }, now))) return soon;
      return (now + NUMBERS_SECONDS) * 1000;
    },
  };
}
