import { type FoldInput, foldIntoAcknowledged, renotifyBurst } from "../../core/alerts/join.ts";
import { isOfSeveral } from "../../core/alerts/recheck.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { cut } from "../../ground/kit/text.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Arrival } from "./arrival.ts";
import type { IngestEvent } from "./event.ts";
import type { CompiledRule } from "./match.ts";
import type { OpenAlert, OpenAlerts } from "./open-alerts.ts";
import { namedBy } from "./opening.ts";
import type { ProjectStates } from "./project-state.ts";
import type { Mined, Miner } from "./template/miner.ts";

/** An alert of so many texts is one of lines that always differ, of which each further one is no news. */
const MOST_TEXTS = 5;
const MOST_ALERTS = 5_000;
const LONGEST_NEWS = 120;
const LAST = "SELECT last_message FROM alerts WHERE id = ?";

interface Text {
  text: string;
  /** A line's with this text. Most lines of one text are the same object, which is faster to compare. */
  mined: Mined;
}

/**
 * The texts of an alert's lines that have names, numbers aside. One that an acknowledged alert doesn't hold
 * ("billing-api is down", where orders-api was) is new trouble, of which whoever took it is told. Only in memory: after
 * a start an alert holds its last message.
 */
function createFoldedTexts() {
  const byAlert = new ForgetfulMap<number, Text[]>(MOST_ALERTS);
  const news = new Map<number, FoldInput>();

  const textOf = (mined: Mined): Text => ({ text: mined.ownText, mined });
  const lastOf = (tx: Tx, id: number, miner: Miner): Text[] => {
    const last = tx.sql<[id: number], string>(LAST).pluck().get(id);
    return last === undefined ? [] : [textOf(miner.mine(last))];
  };

  return {
    hear(
      tx: Tx,
      alert: OpenAlert,
      {
        event,
        mined,
        miner,
      }: { event: Pick<IngestEvent, "message" | "level">; mined: Mined; miner: Miner },
    ) {
      if (!mined.hasNames) return;
      let held = byAlert.get(alert.id);
      if (held === undefined) {
        held = lastOf(tx, alert.id, miner);
        byAlert.set(alert.id, held);
      }
      if (held.length === MOST_TEXTS || held.some((one) => one.mined === mined)) return;
      const own = textOf(mined);
      const same = held.find(({ text }) => text === own.text);
      if (same !== undefined) {
        same.mined = mined;
        return;
      }
      held.push(own);
      if (alert.state !== "acknowledged") return;
      const isWorse = news.get(alert.id)?.isWorse === true || event.level > alert.level;
      news.set(alert.id, { what: cut(event.message, LONGEST_NEWS), isWorse });
    },
    /** New trouble in acknowledged alerts, by their ids. */
    takeNews(): ReadonlyMap<number, FoldInput> {
      const taken = new Map(news);
      news.clear();
      return taken;
    },
    clear() {
      byAlert.clear();
      news.clear();
    },
  };
}

/** Counts events into alerts that stand. */
export function createFolding(openAlerts: OpenAlerts, projects: ProjectStates) {
  const bursts: OpenAlert[] = [];
  const texts = createFoldedTexts();

  return {
    /** Whether it is more than a firing that is reported again. */
    into(
      tx: Tx,
      { rule, names }: CompiledRule,
      { key, alert }: { key: string; alert: OpenAlert },
      { source, event, mined }: Arrival & { mined: Mined },
    ): boolean {
      if (alert.source !== null && alert.source !== source.name) {
        alert.source = null;
        isOfSeveral(tx, alert.id);
      }
      const named = namedBy(event);
      const saysMore = openAlerts.hear(tx, key, { alert, event, names });
      if (named === null) {
        alert.count++;
        texts.hear(tx, alert, { event, mined, miner: projects.get(source.projectId).miner });
      } else {
        const expiresAt = lasting(named.expiresAt, tx.at);
        const isSame = named.instance !== null && named.instance === alert.instance;
        if (isSame && event.level <= alert.level) {
          if (openAlerts.refresh(key, alert, { at: tx.at, expiresAt, saysMore })) {
            alert.lastMessage = event.message;
            alert.template = mined.root.text;
          }
          return false;
        }
        alert.expiresAt = expiresAt;
        if (!isSame) alert.count++;
        alert.instance = named.instance;
      }
      const dedupSeconds = rule.dedup_window_minutes * 60;
      if (dedupSeconds > 0 && alert.state === "open" && tx.at - alert.lastSeen > dedupSeconds)
        bursts.push(alert);
      alert.level = Math.max(alert.level, event.level);
      alert.lastSeen = tx.at;
      alert.lastMessage = event.message;
      alert.template = mined.root.text;
      openAlerts.touch(key, alert);
      return true;
    },
    /** After the alerts' rows are written: tells what the events make to be told. */
    flush(tx: Tx) {
      for (const alert of bursts.splice(0)) renotifyBurst(tx, alert.id);
      for (const [id, joining] of texts.takeNews()) foldIntoAcknowledged(tx, id, joining);
    },
    undo: texts.clear,
    /** The batch is over: committed, or undone. */
    settle() {
      bursts.length = 0;
    },
  };
}

/** An expiry in the past only means that the sender's clock is wrong. */
export function lasting(expiresAt: number | null, at: number): number | null {
  return expiresAt !== null && expiresAt > at ? expiresAt : null;
}
