import { readAddress } from "../ground/kit/addresses.ts";

/** The relying party of WebAuthn: the host that a passkey is made for. */
export interface RelyingParty {
  /** The host name. */
  id: string;
  /** As browsers write it: scheme, host, port. */
  origin: string;
}

/** Why an address can have no passkeys: its host is a number, or it is plain http. */
type NoParty = "number" | "http";

/** `at`: an address of this box as the browser has it. */
export function relyingParty(at: string): RelyingParty | NoParty {
  const { protocol, hostname, origin } = new URL(at);
  if (readAddress(hostname.replace(/^\[|\]$/g, "")) !== null) return "number";
  const isOwn = hostname === "localhost" || hostname.endsWith(".localhost");
  return protocol === "https:" || isOwn ? { id: hostname, origin } : "http";
}

/** The reason as a sentence, with a remedy. */
export const noPartyWords: Readonly<Record<NoParty, string>> = {
  number:
    "Passkeys need a host name, and this address is an IP address: open the box by its name, over https, or on this machine as localhost.",
  http: "Passkeys need https, and this address is plain http.",
};
