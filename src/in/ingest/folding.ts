import { foldIntoAcknowledged, renotifyBurst } from "../../core/alerts/join.ts";
import { isOfSeveral } from "../../core/alerts/recheck.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Arrival } from "./arrival.ts";
import { createFoldedTexts } from "./folded-texts.ts";
import type { CompiledRule } from "./match.ts";
import type { OpenAlert, OpenAlerts } from "./open-alerts.ts";
import { namedBy } from "./opening.ts";
import type { ProjectStates } from "./project-state.ts";
import type { Mined } from "./template/miner.ts";

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
