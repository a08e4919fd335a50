import { readAddress } from "../ground/kit/addresses.ts";

/** Whom a passkey is made for (the relying party of WebAuthn): a host by its name. */
export interface RelyingParty {
  /** The host name. */
  id: string;
  /** As browsers write it: scheme, host, port. */
  origin: string;
}

/** Why there can be no passkeys at an address: it is a number, or plain http. */
export type NoParty = "number" | "http";

/** `at`: an address of this box as the browser has it. */
export function relyingParty(at: string): RelyingParty | NoParty {
  const { protocol, hostname, origin } = new URL(at);
  if (readAddress(hostname.replace(/^\[|\]$/g, "")) !== null) return "number";
  const isOwn = hostname === "localhost" || hostname.endsWith(".localhost");
  return protocol === "https:" || isOwn ? { id: hostname, origin } : "http";
}

/** The reason in a sentence, with what helps. */
export const noPartyWords: Readonly<Record<NoParty, string>> = {
  number:
    "Passkeys need a host name, and this address is a number: open the box by its name, over https, or on this machine as localhost.",
  http: "Passkeys need https, and this address is plain http.",
};
