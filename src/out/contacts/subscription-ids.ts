import type { Reader } from "../../ground/store/store.ts";

const IDS = "SELECT id FROM contacts WHERE account_id = ? AND kind = 'web_push'";

/** Ids of a person's browsers that are pushed to, whatever has become of them. */
export function subscriptionIds(reader: Reader, account: string): string[] {
  return reader.sql<[string], string>(IDS).pluck().all(account);
}
