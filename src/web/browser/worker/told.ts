/* What pushes told, as the box sends it (Declarative Web Push, with our own part in `data`). */

export interface ToldData {
  kind: "page" | "note" | "test" | "shift";
  /** Its id; null for what is about none, or several. */
  alert: string | null;
  project: string | null;
  rule: string | null;
  level: number;
  called: string;
  count: number;
  step: number;
  steps: number;
  /** Whom the ladder pages next, and when, in Unix seconds. */
  next: { who: string; at: number } | null;
  /** The whole address of `/ack/{capability}`. */
  ack: string | null;
  /** What is posted to `/push/seen` once it is shown. */
  receipt: string;
  /** Unix seconds. */
  server_time: number;
}

export interface PushTold {
  title: string;
  body: string;
  navigate?: string;
  tag: string;
  silent?: boolean;
  data: ToldData;
}

/** null where it is no push of a box. */
export function readTold(payload: unknown): PushTold | null {
  const told = (payload as { notification?: PushTold } | null)?.notification;
  const isOurs = typeof told?.title === "string" && typeof told.data?.kind === "string";
  return isOurs ? told : null;
}

/** An alert's number as an address has it; null for what is about none, or several. */
export function alertOf({ alert }: Pick<ToldData, "alert">): string | null {
  const text = String(alert ?? "");
  return /^[1-9]\d{0,15}$/.test(text) ? text : null;
}
