import * as z from "zod";
import { operatorsStore } from "../ground/audit/record.ts";
import type { Role } from "../ground/store/columns.ts";
import type { Store } from "../ground/store/store.ts";
import { seatAccount } from "./accounts.ts";
import { putKey } from "./keys.ts";
import { roles } from "./roles.ts";

/** An account and a key that an operator adds to a tenant. The key itself isn't in it. */
const seat = z.object({
  account: z.object({ id: z.string(), email: z.string() }),
  /** null: what it has, else a member, or the first one's. */
  role: z.enum(roles).nullable(),
  key: z.object({ id: z.string(), hash: z.string(), hint: z.string() }),
});
export type Seat = z.output<typeof seat>;

/** Adds them; again, nothing more. Returns the account's role. */
export function takeSeat(store: Store, { account, role, key }: Seat): Role {
  return operatorsStore(store, "hosted key add").write((tx) => {
    const held = seatAccount(tx, account, role ?? undefined);
    putKey(tx, account.id, key);
    return held;
  });
}

export const addedSeat = (text: string): Seat => seat.parse(JSON.parse(text));
