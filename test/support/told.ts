import type { PushTold, ToldData } from "../../src/web/browser/worker/told.ts";

/** A page by push, as a browser's service worker gets it, with changes. */
export function told(changes: Partial<PushTold> = {}, data: Partial<ToldData> = {}): PushTold {
  return {
    title: "CRITICAL payments: no payment goes through",
    tag: "alert-131",
    body: "128 × since 02:06 · rung 1 of 2, then Bob at 02:25",
    navigate: "/a/131",
    ...changes,
    data: {
      kind: "page",
      alert: "131",
      project: "payments",
      rule: "no payment goes through",
      level: 500,
      called: "payment 4711 failed",
      count: 128,
      step: 1,
      steps: 2,
      next: { who: "Bob", at: 1_767_580_000 },
      ack: null,
      receipt: "r1",
      server_time: 1_767_579_000,
      ...data,
    },
  };
}
