import { climbOf } from "../shared.ts";
import type { Did } from "./acts.ts";
import type { Beats } from "./beats.ts";
import { BEATS, type Box } from "./box.ts";
import { crowdLaws } from "./crowds.ts";
import { type Ledger, ruleOf, whyQuiet } from "./ledger.ts";
import { createReader, type Look, type Row } from "./looks.ts";

/** What holds whatever happens, looked at after each look and act. */
export interface Laws {
  readonly faults: string[];
  readonly seen: Seen;
  each(did?: Did): void;
}

/** What a story had of each kind. */
export interface Seen {
  /** Openings that were held back; ends of a hold; acknowledgements that ended. */
  held: number;
  released: number;
  woken: number;
  drills: number;
  /** Alerts for what was too many. */
  crowded: number;
  /** Alerts that became one with another while their news was held back. */
  mergedHeld: number;
  /** Alerts that a silence by labels held, and whose events then said something else; those of which labels differed before. */
  outgrown: number;
  varied: number;
}

const LOUD = new Set(["alert.opened", "alert.escalated", "alert.renotified"]);
const DRILL_SECONDS = 900;

/** What an alert was before: an event may change it and be told of at once. */
const saidBefore = ({ level, labels, varied, varied_more }: Row) => ({
  level,
  labels,
  varied,
  varied_more,
});

export function lawsOf(box: Box, { ledger, beats }: { ledger: Ledger; beats: Beats }): Laws {
  const faults: string[] = [];
  const seen = {
    held: 0,
    released: 0,
    woken: 0,
    drills: 0,
    crowded: 0,
    mergedHeld: 0,
    outgrown: 0,
    varied: 0,
  };
  const told = new Set<number>();
  const latest = new Map<string, number>();
  const alone = new Set<number>();
  const drills = new Map<number, number>();
  const read = createReader(box, ledger);
  const fault = (text: string, look: Look) => {
    if (faults.length < 20)
      faults.push(`at ${look.now} (${look.elapsed}), after ${look.did.what}: ${text}`);
  };

  const crowds = crowdLaws(ledger, fault);

  const quietOf = (row: Row, { rows, now }: Look) =>
    whyQuiet(ledger, row, { all: [...rows.values()], now });

  /** Nothing is said while it is quiet, nothing twice, and nothing of what nobody has heard of. */
  const said = (row: Row, look: Look) => {
    const { id } = row;
    const events = look.events.get(id) ?? [];
    const was = look.before.get(id);
    for (const event of new Set(events)) {
      // What was missed is one page, and the fallback after it another.
      const fallbacks = look.history.get(id)?.filter((kind) => kind === "fallback").length ?? 0;
      const most = 1 + (event === "alert.escalated" ? fallbacks : 0);
      if (events.filter((other) => other === event).length > most)
        fault(`alert ${id}: ${event} twice`, look);
      if (event === "alert.opened" && told.has(id)) fault(`alert ${id} is opened again`, look);
      if (event === "alert.opened") told.add(id);
      else if (!told.has(id)) fault(`alert ${id}: ${event}, and nobody heard of its opening`, look);
      if (!LOUD.has(event)) continue;
      const why = quietOf(row, look);
      if (
        why !== null &&
        (was === undefined || quietOf({ ...row, ...saidBefore(was) }, look) !== null)
      )
        fault(`alert ${id}: ${event} while ${why} holds`, look);
      if (row.state !== "open" && LOUD.has(events.at(-1) as string))
        fault(`alert ${id}: ${event} and it is ${row.state}`, look);
    }
  };

  /** Of two that become one, the acknowledgement that ends sooner counts; what was given to somebody alone stays so. */
  const takeOver = (id: number, { rows, before: earlier }: Look) => {
    for (const ended of rows.values()) {
      if (ended.state !== "resolved" || earlier.get(ended.id)?.state === "resolved") continue;
      if (alone.has(ended.id)) alone.add(id);
      const [own, other] = [ledger.wakes.get(id), ledger.wakes.get(ended.id)];
      if (other !== undefined) ledger.wakes.set(id, Math.min(own ?? other, other));
    }
  };

  /** What is taken stays so until its time or somebody says otherwise; then it rings. */
  const taken = (row: Row, look: Look) => {
    const { id } = row;
    const { did, elapsed } = look;
    const was = look.before.get(id);
    const wakes = ledger.wakes.get(id);
    const isVerb = did.alert === id && !did.refused;
    if (look.history.get(id)?.includes("merged")) takeOver(id, look);
    if (row.state === "acknowledged" && was?.state !== "acknowledged") {
      alone.delete(id);
      const minutes = ruleOf(ledger, row)?.ack_expires_minutes ?? 0;
      if (minutes > 0 && did.what !== "snooze") ledger.wakes.set(id, elapsed + minutes * 60);
    }
    if (row.state === "acknowledged" && look.rested && wakes !== undefined && wakes <= elapsed)
      fault(`alert ${id} sleeps on after ${wakes}`, look);
    if (was?.state === "resolved" && row.state !== "resolved") {
      alone.delete(id);
      if (!look.history.get(id)?.includes("reopened")) fault(`alert ${id} is back`, look);
    }
    if (was?.state === "acknowledged" && row.state === "open") {
      if (!isVerb) {
        seen.woken += 1;
        if (wakes === undefined || wakes > elapsed) fault(`alert ${id} woke before ${wakes}`, look);
        else if (wakes < elapsed && wakes >= ledger.upSince && ledger.jumpedAt < wakes)
          fault(`alert ${id} woke ${elapsed - wakes} s late`, look);
      }
      rings(row, look);
    }
    if (row.state !== "acknowledged") ledger.wakes.delete(id);
    if (isVerb && did.what === "assign alone") alone.add(id);
    if (isVerb && did.what.startsWith("assign")) rings(row, look);
  };
  const rings = ({ id }: Row, look: Look) => {
    const row = look.rows.get(id) as Row;
    const rang = look.events.get(id)?.some((event) => LOUD.has(event));
    const nobody = look.history.get(id)?.includes("reached_nobody");
    if (!rang && !nobody && quietOf(row, look) === null)
      fault(`alert ${id}: ${look.did.what}, and nobody hears of it`, look);
  };

  /** A page that was due and held when its rule went stays owed. */
  const owed = (row: Row, look: Look) => {
    const was = look.before.get(row.id);
    if (look.did.what !== "drop" || was?.silenced_by == null || was.untold === 1) return;
    const isDue = Math.min(was.step_at ?? Infinity, was.repeat_at ?? Infinity) <= look.now;
    if (isDue && ledger.gone.has(row.rule_id) && (row.renotify_at ?? Infinity) > look.now)
      fault(`alert ${row.id}: a page was held, its rule went, and nobody is owed it`, look);
  };

  /** Whatever was held and isn't quiet any more is told, each thing once, and its ladder goes on. */
  const let_go = (row: Row, look: Look) => {
    const { id } = row;
    const was = look.before.get(id);
    const history = look.history.get(id) ?? [];
    const events = look.events.get(id) ?? [];
    if (history.includes("silenced") && was === undefined) seen.held += 1;
    if (history.includes("silence_over")) {
      seen.released += 1;
      const owed = was?.untold === 1 ? "alert.opened" : null;
      if (owed !== null && !events.includes(owed)) fault(`alert ${id} was held, not told`, look);
      const ended = ledger.gone.get(row.rule_id)?.escalations ?? [];
      const isPaged = history.includes("fallback") || was?.page_accounts !== "[]";
      if (owed !== null && ended.length > 0 && look.rested && !isPaged)
        fault(`alert ${id} was held, its rule went, and nobody is paged for it`, look);
      if (
        // A time from before a jump says nothing of now.
        look.did.what !== "jump" &&
        look.did.what !== "restart" &&
        was?.untold === 0 &&
        was.renotify_at !== null &&
        was.renotify_at <= look.now &&
        !events.includes("alert.renotified") &&
        !history.includes("fallback") &&
        (row.renotify_at ?? Infinity) > look.now
      )
        fault(`alert ${id}: a renotify was held, not told`, look);
    }
    if (was != null && was.silenced_by !== null && was.labels !== row.labels)
      if (quietOf(row, look) === null && quietOf({ ...row, ...saidBefore(was) }, look) !== null)
        seen.outgrown += 1;
    if (look.did.what === "silence" && !look.did.refused && row.state === "open") {
      const made = ledger.silences.at(-1);
      const several = Object.keys(JSON.parse(row.varied ?? "{}"));
      if (made?.labels.some(({ key }) => several.includes(key))) seen.varied += 1;
      if (
        made !== undefined &&
        whyQuiet({ ...ledger, silences: [made] }, row, { all: [], now: look.now }) !== null &&
        row.silenced_by === null
      )
        fault(`alert ${id} isn't marked by the silence ${made.id} that was made over it`, look);
    }
    if (!look.rested || row.state !== "open") return;
    const why = quietOf(row, look);
    if (why !== null) return;
    if (row.untold === 1 || row.silenced_by !== null)
      fault(`alert ${id} is held by ${row.silenced_by}, which is over`, look);
    if (!told.has(id)) fault(`alert ${id} stands and nobody was told`, look);
    if ((row.due_at ?? Infinity) <= look.now) fault(`alert ${id} is due and not looked at`, look);
    const rule = ruleOf(ledger, row);
    const ladder = rule === undefined ? [] : climbOf(ledger.ladders, rule);
    const more = row.step < ladder.length || (ladder[row.step - 1]?.repeat_minutes ?? 0) > 0;
    const next = Math.min(row.step_at ?? Infinity, row.repeat_at ?? Infinity);
    if (more && !alone.has(id) && !(next > look.now && next < Infinity))
      fault(`alert ${id}: its ladder stands still`, look);
  };

  /** A drill ends by itself; a rule has as many alerts as it may. */
  const bounds = (look: Look) => {
    for (const { id, drill, state } of look.rows.values()) {
      if (drill === 0) continue;
      const began = drills.get(id) ?? look.elapsed;
      if (!drills.has(id)) seen.drills += 1;
      drills.set(id, began);
      if (look.rested && state !== "resolved" && look.elapsed >= began + DRILL_SECONDS)
        fault(`drill ${id} goes on`, look);
    }
    for (const rule of ledger.unchanged) {
      const most = ledger.rules.get(rule)?.max_open ?? 0;
      if (most === 0 || rule === BEATS) continue;
      const standing = [...look.rows.values()].filter(
        (row) =>
          row.rule === rule &&
          !ledger.gone.has(row.rule_id) &&
          row.state !== "resolved" &&
          row.drill === 0,
      );
      const own = standing.filter(({ alert_key }) => !alert_key.endsWith(":*"));
      if (own.length > most && look.did.what === "fire" && !look.before.has(own.at(-1)?.id ?? 0))
        fault(`${rule} has ${own.length} alerts of at most ${most}`, look);
      if (standing.length - own.length > 1) fault(`${rule} has two for what is too many`, look);
    }
  };

  return {
    faults,
    seen,
    each(did = { what: "look" }) {
      const look = read(did);
      for (const { alert, event, timestamp } of look.fresh) {
        const key = `${alert} ${event}`;
        if (timestamp <= (latest.get(key) ?? 0))
          fault(`alert ${alert}: two ${event} in a second`, look);
        latest.set(key, timestamp);
      }
      for (const row of look.rows.values()) {
        said(row, look);
        crowds.look(row, look);
        taken(row, look);
        owed(row, look);
        let_go(row, look);
        const was = look.before.get(row.id);
        if (was === undefined && row.alert_key.endsWith(":*")) seen.crowded += 1;
        if (
          was?.untold === 1 &&
          row.state === "resolved" &&
          was.state === "open" &&
          did.what === "fire"
        )
          seen.mergedHeld += 1;
      }
      bounds(look);
      beats.check(look.rested);
    },
  };
}
