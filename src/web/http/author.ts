import type { Author } from "../../ground/audit/record.ts";
import type { Actor } from "../../people/actor.ts";
import type { Route } from "./route.ts";

export interface WrittenBy {
  actor: Actor;
  params: unknown;
  address: string;
  /** Whether the request said that an assistant of the key's person sends it. */
  isAssistant: boolean;
}

/** Who writes by a route: the key's account, or who redeems a pairing code and has none yet. */
export function authorOf(
  route: Pick<Route, "plane" | "path" | "name">,
  { actor, params, address, isAssistant }: WrittenBy,
): Author {
  if (route.plane !== "api") return redeemerOf(route.name, address);
  const { accountId, keyId: hint } = actor;
  const target = targetOf(route.path, (params ?? {}) as Record<string, string>);
  const via = isAssistant ? "assistant" : "key";
  return { accountId, via, hint, address, verb: route.name, target };
}

/** Somebody with a code: the account and the key that come of it say who it was. */
export function redeemerOf(verb: string, address: string): Author {
  const target = { kind: "pairing_code", id: "" };
  return { accountId: null, via: "pairing", hint: "", address, verb, target };
}

/** `/v1/alerts/{id}/ack` → the alert of that id; `/v1/fallback` → the fallback. */
function targetOf(path: string, params: Readonly<Record<string, string>>): Author["target"] {
  const parts = path.split("/");
  const last = parts.findLastIndex((part) => part.startsWith("{"));
  if (last === -1) return { kind: singular(parts[2] ?? ""), id: "" };
  return {
    kind: singular(parts[last - 1] ?? ""),
    id: params[parts[last]?.slice(1, -1) ?? ""] ?? "",
  };
}

function singular(noun: string): string {
  return noun.endsWith("ies") ? `${noun.slice(0, -3)}y` : noun.replace(/s$/, "");
}
