import { texts, type WatchedTable } from "./table.ts";

/** Contacts, notification rules, gateways and the fallback. */
export const contactsWatched: Readonly<Record<string, WatchedTable>> = {
  gateways: {
    kind: "gateway",
    id: "id",
    name: "id",
    fields: { url: ["url", "text"], sealed: ["settings", "secret"] },
  },
  contacts: {
    kind: "contact",
    id: "id",
    name: "label",
    fields: {
      ...texts("account_id", "kind", "label", "state"),
      shown: ["address", "text"],
      sealed: ["credentials", "secret"],
      code_hash: ["code", "secret"],
      wants: ["wants", "json"],
    },
  },
  notify_rules: {
    kind: "notification_rules",
    id: "account_id",
    name: "account_id",
    fields: { rules: ["rules", "json"] },
  },
  meta: {
    kind: "fallback",
    id: "key",
    name: "key",
    only: "ROW.key = 'fallback'",
    fields: { value: ["value", "json"] },
  },
};
