import { shortToken } from "../../core/projects/sources.ts";
import { parseToken } from "../../ground/kit/ids.ts";

/** Asked for where there is no key, so that it takes as long as where there is a wrong one. */
export const NOBODYS = "0".repeat(32);

/** The key in an address, `anything+KEY@host` or `KEY@host`; null for none. */
export function keyOfAddress(address: string): string | null {
  const local = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  const key = local.slice(local.lastIndexOf("+") + 1).replace(/^"|"$/g, "");
  return shortToken(key) === null ? null : key.toLowerCase();
}

/** The key of a login: the password, or the user without one. Never empty: no key is one that nobody has. */
export function keyOfLogin({ user, password }: { user: string; password: string }): string {
  const key = (password === "" ? user : password).trim();
  const isKey = shortToken(key) !== null || parseToken(key)?.plane === "pti";
  return isKey ? key : NOBODYS;
}
