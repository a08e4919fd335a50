import { heldSince } from "../core/oncall/hand-over.ts";
import { shiftChecksAt } from "../core/oncall/shift-check.ts";
import {
  askShift,
  lookAgainAtShifts,
  nextShiftDue,
  nextShiftLook,
  notesHandOver,
  processDueShifts,
  schedulesToLookAt,
  scheduleToCheck,
  wantsHandOvers,
} from "../core/oncall/shift-checks.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { shiftDevices, wantsShifts } from "../out/contacts/subscriptions.ts";
import { makeShiftPages } from "../out/paging/pages.ts";
import { tellHandOver } from "./hand-over.ts";
import type { Job } from "./scheduler.ts";

/** Seconds to the next look at a broken schedule, such as one whose zone the system no longer knows. */
const BROKEN = 3600;

/**
 * Asks the people whose shifts begin to show that they can be reached. One transaction checks a shift and writes its
 * pushes, and each shift is checked once, so neither a crash nor a clock that goes back asks twice. Nothing is done
 * while no device wants it. The same look tells whoever takes over, and whoever hands over, once each. A person whose devices were all given up by their services can't be asked, and that is
 * reported.
 */
export function shiftJob({
  store,
  log,
  ready,
}: {
  store: Store;
  log: Log;
  /** Whether due times were adjusted for the time the box was down. */
  ready(): boolean;
}): Job {
  return {
    name: "shifts",
    wokenBy: ["oncall", "people"],
    run(now) {
      if (!ready()) return (now + 1) * 1000;
      if (looksAtShifts(store))
        for (const id of schedulesToLookAt(store, now)) lookAt(store, log, id);
      const due = nextShiftDue(store);
      if (due !== null && due <= unixSeconds(store.clock)) store.write(processDueShifts);
      const next = nextShiftWork(store);
      return next === null ? null : next * 1000;
    },
  };
}

const looksAtShifts = (reader: Reader): boolean => wantsShifts(reader) || wantsHandOvers(reader);

/** When there is something to do, in Unix seconds; null: nothing waits. */
export function nextShiftWork(reader: Reader): number | null {
  const times = [nextShiftDue(reader), looksAtShifts(reader) ? nextShiftLook(reader) : null];
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function lookAt(store: Store, log: Log, id: string): void {
  try {
    store.write((tx) => checkShifts(tx, id));
  } catch (error) {
    log.error({ err: error, schedule: id }, "a schedule's shifts could not be looked at");
    store.write((tx) => lookAgainAtShifts(tx, id, tx.at + BROKEN));
  }
}

function checkShifts(tx: Tx, id: string): void {
  const schedule = scheduleToCheck(tx, id);
  if (schedule === null) return;
  const { due, handed, next } = shiftChecksAt(schedule, tx.at);
  for (const one of schedule.isHandedOver ? handed : [])
    if (notesHandOver(tx, id, one))
      tellHandOver(tx, schedule, { ...one, since: heldSince(schedule, one.at - 1, one.from) });
  for (const begin of schedule.isChecked && wantsShifts(tx) ? due : []) {
    const { ids: devices, gaveUp } = shiftDevices(tx, begin.account_id);
    const check = devices.length > 0 || gaveUp ? askShift(tx, id, begin) : null;
    if (check !== null) makeShiftPages(tx, { check, account: begin.account_id, devices });
  }
  lookAgainAtShifts(tx, id, next);
}
