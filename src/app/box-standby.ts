import type { Socket } from "node:net";
import { version } from "../ground/kit/assets.ts";
import { sleep } from "../ground/kit/clock.ts";
import type { Log } from "../ground/kit/log.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { failedUpgrade } from "../ground/store/record/mark.ts";
import type { StoreCopy } from "../hosted/record/copy.ts";
import {
  endStandby,
  type FoundStore,
  forgetShips,
  type Standby,
  standByFor,
} from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import { databaseMigrations } from "../hosted/registry/postgres/migrate.ts";
import { differingFlags } from "./box-flags.ts";
import { type Lying, mayTakeBox } from "./box-found.ts";
import type { Notes } from "./box-notes.ts";
import { isOfNewer } from "./box-replace.ts";
import type { BoxConfig } from "./config.ts";
import { serveDesk } from "./offline/serve-sock.ts";
import type { BoxDeps } from "./parts.ts";
import type { StandbyState } from "./standby-door.ts";
import { openStandbyDoors } from "./standby-doors.ts";
import type { Forwarder } from "./standby-forward.ts";

const LOOK_MS = 1_000;
/** A longer time between two looks is one in which this process stood still, and heard nothing. */
const STOOD_MS = 5_000;
/** What a copy lacks of so much time is fetched within moments. */
const FRESH_MS = 10_000;
const FORGET_LOOKS = 60;
const LATE_MS = 30_000;
/**
 * Whoever couldn't upgrade the box tries again when nobody has had it for so long. systemd gives up a service that ends ten
 * times within five minutes.
 */
export const AGAIN_MS = 45_000;

/** Has commands on this machine's directory done by the one that serves. */
const deskSender =
  (forwarder: Forwarder, answer: () => Promise<string>) =>
  (socket: Socket): void => {
    const late = () => void answer().then((said) => socket.end(`${said}\n`).resume());
    const how = { isSecure: false, certificate: null, isAsking: true };
    forwarder.send({ ...how, socket, port: "desk", late });
  };

/** What a machine that stands by keeps up to date. */
export type Followed = Pick<StoreCopy, "seq" | "schema" | "follow">;

interface StandbyPlace {
  config: BoxConfig;
  database: Database;
  copy: Followed;
  node: string;
  run: string;
  /** Sends on what comes here; null: it is refused. */
  forwarder: Forwarder | null;
  /** As the box was found at the start. */
  found: FoundStore;
  lying: Lying;
  notes: Notes;
  /** Whether a process before it in this directory has it, which has ended. */
  isOwn(found: FoundStore): boolean;
  /** Throws StoreFault where this machine couldn't serve it. */
  fits(found: FoundStore): void;
}

function sayItStands(of: { listen: string; owner: string | null; why: string | null }, log: Log) {
  const { why, ...where } = of;
  if (why === null) return log.warn(where, "this machine stands by");
  log.warn(
    of,
    "this machine stands by: it couldn't upgrade the box, and tries again when nobody has served it for a while",
  );
}

/** Stands by for a box that another machine serves: keeps a copy up to date, and says whose the box is. */
export async function standBy(place: StandbyPlace, deps: BoxDeps) {
  const { database, copy, config, forwarder, lying } = place;
  const { clock, log } = deps;
  const me: Omit<Standby, "failed"> = {
    node: place.node,
    run: place.run,
    version,
    schema: databaseMigrations().length,
  };
  const over = new AbortController();
  /** Ends the pause before the next look. */
  let soon = new AbortController();
  let latest = place.found;
  const faults: Record<"database" | "copy" | "program", string | null> = {
    database: null,
    copy: null,
    program: null,
  };
  let [heardMs, lookedAt, looks] = [0, clock.mono(), 0];
  let differing: readonly string[] = [];
  let ownerlessSince: number | null = null;
  /** When the copy was what the database held. */
  let freshAt = clock.mono();
  let following: Promise<void> | null = null;

  const secondsSince = (at: number | null) =>
    at === null ? 0 : Math.round((clock.mono() - at) / 1000);
  const owner = () => (latest.isAlive && !place.isOwn(latest) ? latest.node : null);
  const state = (): StandbyState => {
    return {
      role: owner() === null ? "none" : "standby",
      owner: owner(),
      epoch: latest.epoch,
      behind: behind(),
      upgrade_failed: failed !== null,
      fault: nearFault() !== null ? "other" : failed !== null ? "upgrade" : null,
      differing,
      ownerless: secondsSince(ownerlessSince),
      link: forwarder && {
        ...forwarder.counts,
        fault: forwarder.fault(),
        held: forwarder.held(),
      },
    };
  };
  const say = (of: keyof typeof faults, error: unknown) => {
    const why = error === null ? null : error instanceof Error ? error.message : String(error);
    if (why !== faults[of] && why !== null)
      log.warn({ err: error }, `this machine stands by: something is wrong with the ${of}`);
    faults[of] = why;
  };
  const compareFlags = () => {
    const now = differingFlags(config.given, latest.flags);
    if (now.length > 0 && String(now) !== String(differing))
      log.warn({ flags: now }, "the machine that serves has other flags than this one");
    differing = now;
  };
  const isFresh = () => copy.seq !== null && copy.seq === latest.seq;
  const behind = () => {
    if (isFresh()) return 0;
    // A copy that was never whole is behind from the first moment on.
    return Math.max(copy.seq === null ? 1 : 0, secondsSince(freshAt));
  };
  const hasFailed = failedUpgrade(lying.mark) !== null;
  /** As of the last look: the ports are asked for it also while the store is upgraded, when the copy is closed. */
  let failed = failedUpgrade(lying.mark, copy.schema());
  const nearFault = () => faults.database ?? faults.copy ?? faults.program;
  /** What whoever leaves is told: it waits for a copy that will be up to date. */
  const said = () => {
    if (nearFault() !== null || failed !== null) return null;
    return copy.seq !== null && (isFresh() || clock.mono() - freshAt < FRESH_MS);
  };
  const follow = () => {
    const at = clock.mono();
    following ??= copy
      .follow()
      .then(
        () => {
          freshAt = at;
          say("copy", null);
          // Nothing is added by an owner that is gone: it may be taken now.
          if (!latest.isAlive) soon.abort();
        },
        (error: unknown) => say("copy", error),
      )
      .finally(() => {
        following = null;
      });
  };
  const look = async () => {
    const at = clock.mono();
    failed = failedUpgrade(lying.mark, copy.schema());
    try {
      const found = await standByFor(database, { ...me, failed }, said());
      if (found === null) throw new Error("the database has forgotten the box");
      heardMs = at - lookedAt > STOOD_MS || faults.database !== null ? 0 : heardMs + at - lookedAt;
      latest = found;
      compareFlags();
      say("database", null);
    } catch (error) {
      heardMs = 0;
      return say("database", error);
    } finally {
      lookedAt = at;
    }
    forwarder?.sees(latest.isAlive && latest.run !== me.run ? latest : null);
    ownerlessSince = owner() === null ? (ownerlessSince ?? at) : null;
    if (hasFailed && failed === null) place.notes.note({ failed: null });
    if (++looks % FORGET_LOOKS === 0) await forgetShips(database).catch(() => {});
  };
  const mayServe = (): boolean => {
    try {
      place.fits(latest);
      if (isOfNewer(copy))
        throw new StoreFault(
          "newer",
          "a newer program has changed the box: this one can't serve it",
        );
      say("program", null);
      return true;
    } catch (error) {
      say("program", error);
      return false;
    }
  };
  /** Another one may be able to: it only restarts. */
  const mayTry = () =>
    failed === null ||
    latest.run === me.run ||
    (ownerlessSince !== null && clock.mono() - ownerlessSince >= AGAIN_MS);
  const mayTake = (): boolean =>
    faults.database === null &&
    mayTry() &&
    mayTakeBox(latest, { run: me.run, heardMs, isFresh: isFresh(), mayServe });

  // Whoever leaves waits for a machine that it knows of.
  await look();
  // It may have left.
  forwarder?.onRefused(() => soon.abort());
  const doors = await openStandbyDoors(config, deps, state, forwarder);
  sayItStands({ listen: doors.url, owner: owner(), why: failed }, log);
  const answer = async () => {
    const { standbyAnswer } = await import("./offline/desk.ts");
    return standbyAnswer(owner());
  };
  const desk = serveDesk(config.data, log, answer, forwarder && deskSender(forwarder, answer));
  return {
    doors,
    /** Whether it goes on looking. */
    isWell: () => over.signal.aborted || following !== null || clock.mono() - lookedAt < LATE_MS,
    /** Resolves when the store may be taken, as it was found then. May be called again where another one took it. */
    async untilFree(): Promise<FoundStore> {
      while (!over.signal.aborted) {
        await look();
        const isStale = !isFresh();
        if (!isStale) freshAt = lookedAt;
        if (!isStale) mayServe();
        if (isStale) follow();
        if (mayTake()) {
          await following;
          return latest;
        }
        if (over.signal.aborted) break;
        soon = new AbortController();
        await sleep(clock, LOOK_MS, soon.signal);
      }
      return new Promise(() => {});
    },
    /** Stands by no longer; its ports stay open. */
    async end() {
      if (over.signal.aborted) return;
      over.abort();
      soon.abort();
      await desk?.close();
      // Else it counts as standing by for some seconds more.
      await endStandby(database, me).catch(() => {});
    },
  };
}
