/**
 * How one push ended. `unregistered`: the app is gone from that phone. `bad_token`: no token of this app there. `refused`:
 * the provider takes no such push (topic, payload). `provider_token`: it takes our key no more, or not yet. `throttled`:
 * too many for that phone. `provider`: its own fault. `connection`: none, lost, or crowded. `timeout`: no answer in time.
 * `withdrawn`: nobody's any more. `unset`: no key or endpoint that can be used. `away`: the registry had no answer.
 * `closing`: this process ends.
 */
export type PushEnd =
  | ("delivered" | "unregistered" | "bad_token" | "refused" | "provider_token" | "throttled")
  | ("provider" | "connection" | "timeout" | "withdrawn" | "unset" | "away" | "closing");

/** How pushes ended, since the start. */
export interface PushCounts {
  add(end: PushEnd): void;
  all(): { end: PushEnd; n: number }[];
}

const ENDS: readonly PushEnd[] = [
  ...([
    "delivered",
    "unregistered",
    "bad_token",
    "refused",
    "provider_token",
    "throttled",
  ] as const),
  ...(["provider", "connection", "timeout", "withdrawn", "unset", "away", "closing"] as const),
];

export function createPushCounts(): PushCounts {
  const counts = new Map(ENDS.map((end) => [end, 0]));
  return {
    add: (end) => void counts.set(end, (counts.get(end) ?? 0) + 1),
    all: () => [...counts].map(([end, n]) => ({ end, n })),
  };
}
