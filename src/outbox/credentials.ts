import type { Sealer } from "../kit/sealer.ts";
import type { IntegrationType } from "../store/schema.ts";
import { sealPlace } from "../store/sealed.ts";
import type { Tx } from "../store/store.ts";

/** What a channel is called with, as it is sealed in one value beside its row. */
export interface Credentials {
  /** webhook: what its requests are signed with. */
  secret?: string;
  /** telegram: the bot's token. */
  token?: string;
  chat_id?: string;
  /** slack: the incoming webhook's address, which is a credential as a whole. */
  webhook_url?: string;
}

export type CredentialField = "url" | keyof Credentials;

/** The fields each type needs and may have (contract §15, credential rules); every other one is refused. */
export const credentialRules: Record<
  IntegrationType,
  { required: readonly CredentialField[]; optional: readonly CredentialField[] }
> = {
  webhook: { required: ["url"], optional: ["secret"] },
  telegram: { required: ["token", "chat_id"], optional: [] },
  slack: { required: ["webhook_url"], optional: [] },
  apns: { required: [], optional: [] },
};

export function sealCredentials(sealer: Sealer, id: string, credentials: Credentials): string {
  return sealer.seal(JSON.stringify(credentials), sealPlace("integrations", "sealed", id));
}

/** null when they can't be opened: they must be entered again, or their key put back. */
export function openCredentials(
  sealer: Sealer,
  row: { id: string; sealed: string | null },
): Credentials | null {
  if (row.sealed === null) return {};
  const text = sealer.open(row.sealed, sealPlace("integrations", "sealed", row.id));
  return text === null ? null : (JSON.parse(text) as Credentials);
}

/** A Telegram group became another chat: its id is stored in place of the old one. */
export function moveChat(
  tx: Tx,
  sealer: Sealer,
  moved: { integrationId: string; chatId: string },
): void {
  const { integrationId: id, chatId } = moved;
  const row = tx.sql("SELECT id, sealed FROM integrations WHERE id = ?").get(id) as
    | { id: string; sealed: string | null }
    | undefined;
  const credentials = row === undefined ? null : openCredentials(sealer, row);
  if (credentials === null) return;
  const sealed = sealCredentials(sealer, id, { ...credentials, chat_id: chatId });
  tx.sql("UPDATE integrations SET sealed = ? WHERE id = ?").run(sealed, id);
}
