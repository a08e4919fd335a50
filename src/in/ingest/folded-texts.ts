import type { FoldInput } from "../../core/alerts/join.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { cut } from "../../ground/kit/text.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { IngestEvent } from "./event.ts";
import type { OpenAlert } from "./open-alerts.ts";
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
export function createFoldedTexts() {
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
