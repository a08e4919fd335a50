/**
 * How one push ended. `unregistered`: the app was removed from the phone. `bad_token`: not a token of this app.
 * `refused`: the provider refuses the topic or payload. `provider_token`: it refuses our key. `throttled`: too many for
 * that phone. `provider`: an error of the provider. `connection`: none, lost, or no free stream. `timeout`: no answer
 * in time. `withdrawn`: the person is no recipient any more. `unset`: no usable key or endpoint. `away`: the registry
 * didn't answer. `closing`: this process ends.
 */
export type PushEnd =
  | ("delivered" | "unregistered" | "bad_token" | "refused" | "provider_token" | "throttled")
  | ("provider" | "connection" | "timeout" | "withdrawn" | "unset" | "away" | "closing");

/** Counts how pushes ended since the start. */
export type PushCounts = ReturnType<typeof createPushCounts>;

const ENDS: readonly PushEnd[] = [
  "delivered",
  "unregistered",
  "bad_token",
  "refused",
  "provider_token",
  "throttled",
  "provider",
  "connection",
  "timeout",
  "withdrawn",
  "unset",
  "away",
  "closing",
];

export function createPushCounts() {
  const counts = new Map(ENDS.map((end) => [end, 0]));
  return {
    add: (end: PushEnd) => void counts.set(end, (counts.get(end) ?? 0) + 1),
    all: () => [...counts].map(([end, n]) => ({ end, n })),
  };
}
