import { lookAgainAtLoud } from "../core/alerts/many.ts";
import {
  findSilence,
  nextTurnOfSilences,
  silencesToAnnounce,
  writeSilence,
} from "../core/quiet/rows.ts";
import type { SilenceBody, SilenceRow } from "../core/quiet/silence.ts";
import { untold } from "../core/quiet/silences.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Store } from "../ground/store/store.ts";
import { linkBase } from "../out/paging/capability.ts";
import type { ContactSender } from "../out/paging/send.ts";
import { contactKindList } from "../out/services/list.ts";
import { type NoteText, tellPerson } from "./person-note.ts";
import type { Job } from "./scheduler.ts";

interface SilenceEnds {
  store: Store;
  contacts: ContactSender;
  log: Log;
  publicUrl: string;
}

/** Seconds between two attempts to notify a person, and how long they go on. */
const AGAIN = 60;
const LATEST = 3600;

/**
 * When silences begin and end: notifies the pages that show them, and sends a person who would have ended one by hand a
 * quiet message that it ended by itself.
 */
export function silenceJob(deps: SilenceEnds): Job {
  const { store } = deps;
  let looked: number | null = null;
  return {
    name: "silences",
    wokenBy: ["silences"],
    async run(now) {
      const ahead = nextTurnOfSilences(store, now);
      // In the first run: silences that began while the box was off.
      const missed = looked !== null ? nextTurnOfSilences(store, looked) : ahead && now;
      looked = now;
      if (missed !== null && missed <= now)
        store.write((tx) => {
          tx.note({ topic: "silences" });
          lookAgainAtLoud(tx);
        });
      const owed = silencesToAnnounce(store, now);
      for (const row of owed) await tell(deps, row, now);
      const again = silencesToAnnounce(store, now).length > 0 ? now + AGAIN : null;
      const times = [ahead, again].filter((at) => at !== null);
      return times.length === 0 ? null : Math.min(...times) * 1000;
    },
  };
}

async function tell(
  { store, contacts, log, publicUrl }: SilenceEnds,
  row: SilenceRow,
  now: number,
): Promise<void> {
  const base = linkBase(store, publicUrl);
  const note = endedNote(row, base === null ? null : `${base}/silences/${row.id}`);
  const takes = (kind: string) => contactKindList.find(kind)?.notes === true;
  const sent = await tellPerson({ store, contacts }, row.created_by, { note, takes });
  if (sent === "later" && now < row.over_at + LATEST) return;
  if (sent !== "told")
    log.warn({ silence: row.id }, "no contact took the message that a silence ended");
  store.write((tx) => {
    const there = findSilence(tx, row.id);
    if (there !== null) writeSilence(tx, untold(there));
  });
}

function endedNote({ id, body }: SilenceRow, link: string | null): NoteText {
  const { match, reason } = JSON.parse(body) as SilenceBody;
  const what = match.rule ?? "alerts";
  return {
    id: `silence-${id}`,
    title: `Your silence of ${what} has ended`,
    lines: [`“${reason}”`, "Alerts that it held back and that are still open are sent now."],
    link,
  };
}
