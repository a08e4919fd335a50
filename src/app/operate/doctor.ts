import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { followAwayShifts } from "../../core/oncall/away-shifts.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { loadKeyRing } from "../../ground/kit/key-ring.ts";
import { ringSealer, type Sealer } from "../../ground/kit/sealer.ts";
import { finish } from "../../ground/kit/slices.ts";
import { namedClock, shortTime, timeFor } from "../../ground/kit/wall-time.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { migrations } from "../../ground/store/migrations.ts";
import { sealedKeyIds } from "../../ground/store/sealed.ts";
import type { Reader } from "../../ground/store/store.ts";
import { unheardHeartbeats } from "../../in/heartbeats/unheard.ts";
import { diskSizes } from "../../tenant/disk.ts";
import { contactFindings } from "./contact-health.ts";
import { standbyFindings, upgradeFindings } from "./doctor-standby.ts";
import {
  ailingChannels,
  backupFinding,
  clockFinding,
  digestFindings,
  rulesAtLimitFindings,
  waitingFinding,
  zoneFindings,
} from "./doctor-store.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { lostCredentials } from "./lost-credentials.ts";
import { patternFindings } from "./pattern-health.ts";
import { pushFindings } from "./push-health.ts";
import { reachFindings } from "./reach.ts";
import { boxStatus, type Directory, openBox, type Status, sizesOf } from "./status.ts";

/**
 * Checks everything that a box needs, and says what to do about each finding. Changes nothing. It works while the box
 * runs, while it is stopped, and where it can't start.
 */
export async function examine(options: Directory): Promise<Finding[]> {
  const { data } = options;
  const outside = [directoryFinding(data), logFinding(data)];
  let reader: ReturnType<typeof openBox>;
  try {
    const standby = await standbyFindings(options);
    if (standby !== null) return [...outside, ...standby];
    reader = openBox(options);
  } catch (error) {
    return [...outside, storeFault(error)];
  }
  try {
    const status = await boxStatus(options);
    return [
      ...outside,
      ...whole(reader),
      schemaFinding(status),
      ...upgradeFindings(data),
      diskFinding(status),
      clockFinding(reader, options.clock),
      ...keyFindings(reader, data),
      ...ailingChannels(reader),
      ...reachFindings(reader),
      ...contactFindings(reader),
      ...awayFindings(reader, options.clock),
      ...pushFindings(reader, sealerOf(data), options.clock),
      ...heartbeatFindings(reader, options.clock),
      ...zoneFindings(reader, options.clock),
      ...rulesAtLimitFindings(reader),
      ...patternFindings(reader),
      waitingFinding(reader, options.clock),
      ...digestFindings(reader),
      backupFinding(reader, options.clock),
      ...servingFindings(status),
    ];
  } finally {
    reader.close();
  }
}

function storeFault(error: unknown): Finding {
  const fault = StoreFault.from(error, "the store");
  const advice: Partial<Record<StoreFault["kind"], string>> = {
    damaged: "restore the last backup: box restore FILE --replace",
    newer: "run the newer program; or restore the copy it made before its upgrade",
    foreign: "check that --data names the box's directory",
    io: "check the disk, its mount and the owner of the files",
  };
  return wrong("store", fault.message, advice[fault.kind] ?? "check that --data is right");
}

function directoryFinding(data: string): Finding {
  const found = statSync(data, { throwIfNoEntry: false });
  if (found === undefined)
    return wrong("directory", `there is no ${data}`, "name the data directory with --data");
  if (!found.isDirectory())
    return wrong("directory", `${data} is no directory`, "name the data directory with --data");
  const open = (found.mode & 0o077) !== 0;
  return open
    ? wrong("directory", "other users than its owner may read it", `chmod 700 ${data}`)
    : ok("directory", `${data}, only for its owner`);
}

const LARGE_LOG = 64 * 1024 * 1024;

function logFinding(data: string): Finding {
  const { log } = sizesOf(data);
  return log > LARGE_LOG
    ? wrong(
        "write-ahead log",
        `${log} bytes: a long read blocks moving it into the store`,
        "end the program that reads box.db (a copy, a database browser), or restart the box",
      )
    : ok("write-ahead log", `${log} bytes`);
}

/** Opening has already checked small stores. */
function whole(reader: Reader): Finding[] {
  const found = reader.db.pragma("quick_check(3)", { simple: true }) as string;
  if (found === "ok") return [ok("store", "every page is in order")];
  return [
    wrong(
      "store",
      `damaged: ${found.replace(/\s+/g, " ").slice(0, 200)}`,
      "restore the last backup: box restore FILE --replace",
    ),
  ];
}

function schemaFinding({ schema, version, running_version }: Status): Finding {
  if (running_version !== null && running_version !== version)
    return wrong(
      "version",
      `${running_version} is running, this program is ${version}`,
      "restart the service, so that the installed program runs",
    );
  const known = migrations("box").length;
  return schema < known
    ? note("version", `${version}; schema ${schema} becomes ${known} at the next start`)
    : ok("version", `${version}, schema ${schema}`);
}

function diskFinding({ disk, data }: Status): Finding {
  const total = disk.free === null ? 0 : totalBytes(data);
  const { low, enough } = diskSizes(total);
  const said = `${disk.free ?? "an unknown number of"} bytes free, the store has ${disk.store}`;
  if (disk.free === null || disk.free >= enough) return ok("disk", said);
  return wrong(
    "disk",
    disk.free < low ? `${said}: events are refused` : said,
    "free some space; or keep less: --log-days, --log-gib, --history-days",
  );
}

function totalBytes(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return blocks * bsize;
}

function keyFindings(reader: Reader, data: string): Finding[] {
  const { ring, faults } = loadKeyRing(data, "box.key");
  const bad = faults.map(({ file, problem }) => keyFault(join(data, file), problem));
  const isUsed = sealedKeyIds(reader).length > 0;
  if (ring === null)
    return [
      ...bad,
      isUsed
        ? wrong("key", "there is no key, and stored credentials need one", LOST_KEY)
        : note("key", "there is none yet: one is made at the first start"),
    ];
  const lost = lostCredentials(reader, ringSealer(ring));
  if (lost.length === 0) return [...bad, ok("key", "opens every stored credential")];
  const named = lost.map(({ name }) => name).slice(0, 10);
  return [...bad, wrong("key", `can't open: ${named.join("; ")}`, LOST_KEY)];
}

function sealerOf(data: string): Sealer | null {
  const { ring } = loadKeyRing(data, "box.key");
  return ring === null ? null : ringSealer(ring);
}

const LOST_KEY =
  "put the old box.key back (or box key-file add FILE), or enter these credentials again";

function keyFault(file: string, problem: string): Finding {
  const advice = problem === "too_open" ? `chmod 600 ${file}` : `put back the right ${file}`;
  return wrong("key file", `${file}: ${problem.replaceAll("_", " ")}`, advice);
}

function shedFinding(detail: string): Finding {
  if (!/\b0 refused/.test(detail))
    return note(
      "ingest",
      detail,
      "a faster disk, or fewer events: senders are asked to wait and try again",
    );
  return /turned away/.test(detail)
    ? note(
        "ingest",
        detail,
        "GET /v1/projects/{id}/sources/{name}/facts says why, and the log which",
      )
    : ok("ingest", detail);
}

/** Checks of readiness that the doctor makes itself. */
const SEEN = [
  "store",
  "disk",
  "backup",
  "breakers",
  "channels",
  "reach",
  "contacts",
  "credentials",
];

function servingFindings({ running, address, health }: Status): Finding[] {
  if (!running)
    return [note("service", "the box isn't running: box serve, or systemctl start box")];
  if (health === null)
    return [
      wrong(
        "service",
        `a box serves this directory but doesn't answer at ${address ?? "any known address"}`,
        "look at its log; restart it",
      ),
    ];
  const bad = health.checks.filter((check) => !check.ok && !SEEN.includes(check.name));
  const ingest = health.checks.filter(({ name }) => name === "ingest");
  const turns = health.checks.filter(({ name }) => name === "turns");
  return [
    ok("service", `serving at ${address}, ${health.status}`),
    ...ingest.map(({ detail }) => shedFinding(detail)),
    ...turns.map(({ detail }) => note("turns", detail)),
    ...bad.map((check) => wrong(check.name, check.detail, "see the log of the box")),
  ];
}

const MOST_NAMED = 10;

/** Heartbeats that would page nobody when their reports are missing, because no rule matches their events. */
function heartbeatFindings(reader: Reader, clock: Clock): Finding[] {
  const unheard = unheardHeartbeats(reader, unixSeconds(clock));
  if (unheard === null) return [];
  if (unheard.length === 0) return [ok("heartbeats", "a rule matches the events of each")];
  const first = unheard.slice(0, MOST_NAMED).map(({ name, project }) => `${name} of ${project}`);
  const more = unheard.length > MOST_NAMED ? " and others" : "";
  return [
    wrong(
      "heartbeats",
      `no rule matches the events of these when reports are missing: ${first.join(", ")}${more}`,
      "make a rule that matches the source of kind heartbeats at their level: box source list, box rule",
    ),
  ];
}

const MOST = 20;

/** Shifts of the next 14 days whose people say that they are away. */
function awayFindings(reader: Reader, clock: Clock): Finding[] {
  const now = unixSeconds(clock);
  const emails = new Map(
    reader.sql<[], [id: string, email: string]>("SELECT id, email FROM accounts").raw().all(),
  );
  const shifts = finish(followAwayShifts(reader, now));
  const found = shifts.slice(0, MOST).map((shift) => {
    const { project, schedule, timezone, starts_at, ends_at } = shift;
    const clock = namedClock(timezone);
    const from = shortTime(starts_at, clock.zone, now);
    const until = timeFor(clock, ends_at, now);
    return note(
      "away",
      `${emails.get(shift.account) ?? "somebody"} is away, and on call in ${project} / ${schedule} from ${from} to ${until}`,
      `put somebody else there: box override add ${project} ${schedule} PERSON --from TIME --until TIME`,
    );
  });
  const more = shifts.length - found.length;
  return more > 0 ? [...found, note("away", `${more} more shifts of people who are away`)] : found;
}
