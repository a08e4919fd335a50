import type { Source } from "../../core/projects/sources.ts";
import type { IngestEvent } from "./event.ts";

/** One event on its way: who sent it and what it is. */
export interface Arrival {
  source: Source;
  event: IngestEvent;
  /** The next one came in the same request, so both are committed together. */
  more?: boolean;
}

export interface IngestAnswer {
  /** This event opened an alert or was counted into one that is not resolved (contract §5). */
  alerted: boolean;
  template_id: string;
  /** Alerts that it ended; only of an event that says so. */
  resolved?: number;
}
