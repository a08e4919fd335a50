import type { Store } from "../store/store.ts";
import { auditedStore } from "./record.ts";

/** The store for a command of the operator, who needs no account. `command`: the words typed, without values. */
export function operatorsStore(store: Store, command: string): Store {
  const target = { kind: "account", id: "" };
  const who = { accountId: null, via: "command", hint: `box ${command}`, address: "" } as const;
  return auditedStore(store, { ...who, verb: command, target });
}
