import type { LadderBody } from "../../src/core/projects/ladder.ts";
import type { RuleBody } from "../../src/core/projects/rule.ts";

/**
 * What happened to the box, in order: all that the reference needs to say what the box must have done.
 * `wall` is the box's own time in Unix seconds.
 */
export type Fact =
  /**
   * Started. `down` is how long it was off by its own measure, 0 where its clock can't tell. `kept`: of alerts
   * whose latest report a crash may have taken, the validity of the report that is known, and when it came.
   */
  | {
      what: "started";
      wall: number;
      down: number;
      kept: { alert: number; lasts: number | null; seen: number }[];
      /** It was off before. */
      isAgain: boolean;
    }
  /** Due work was looked at. */
  | { what: "looked"; wall: number }
  /** `word` is what the line names: the third for one rule makes all its lines one template. */
  | {
      what: "event";
      wall: number;
      rule: number;
      host: string;
      word: string;
      named: Named | null;
    }
  /** A sender's word on what it named, other than that it fires. */
  | {
      what: "concluded";
      wall: number;
      rule: number;
      word: string;
      key: string;
      instance: string | null;
      status: "resolved" | "acknowledged";
    }
  /** A rule was replaced. */
  | { what: "ruled"; wall: number; rule: number; body: RuleBody }
  /** It was removed; `id`: its row. `ends`: the alerts of which nobody is told any more, as the box said. */
  | { what: "dropped"; wall: number; rule: number; id: number; ends: number[] }
  /** One that was removed was made again, with another row. */
  | { what: "added"; wall: number; rule: number; id: number; body: RuleBody }
  /** A ladder of the tenant was made or replaced, and is called `to` from then on. */
  | { what: "laddered"; wall: number; name: string; to: string; body: LadderBody }
  /** One was to be deleted. */
  | { what: "unladdered"; name: string; refused: boolean }
  | { what: "acked"; wall: number; alert: number }
  /** Somebody took an acknowledgement back. */
  | { what: "unacked"; wall: number; alert: number }
  | { what: "resolved"; wall: number; alert: number }
  /** The clock jumped by so many seconds, and the box has seen it. */
  | { what: "jumped"; by: number }
  | { what: "removed"; account: string };

/** How a sender names an alert. `lasts`: it promises to report again within so many seconds. */
export interface Named {
  key: string;
  instance: string | null;
  lasts: number | null;
}

/** One event of one alert, as it is in the log and as it must be. */
export interface LogEvent {
  alert: number;
  event: string;
  timestamp: number;
  level: number;
  accounts: string[];
}
