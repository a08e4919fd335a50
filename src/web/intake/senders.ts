import { followSource, type Source } from "../../core/projects/sources.ts";
import { type Cidr, inCidr } from "../../ground/kit/addresses.ts";
import type { Store } from "../../ground/store/store.ts";
import type { Port } from "./port.ts";

/** Who a message comes from, as far as the connection tells. */
export interface SyslogPeer {
  address: string;
  /** SHA-256 of the client's certificate, 64 lower-case hex characters; null where it showed none. */
  certificate: string | null;
}

/** A line of the table of senders that can set no token: whose messages are which source's. */
export interface KnownSender {
  /** A network, or a certificate's SHA-256. */
  who: Cidr | string;
  place: { project: string; source: string };
}

/** Finds the source of a sender without a token: by its certificate, else the port's, else by its address. */
export function senderFinder(
  store: Store,
  port: Port,
  known: readonly KnownSender[],
): (peer: SyslogPeer) => Source | null {
  const byCertificate = new Map(
    known.flatMap(({ who, place }) =>
      typeof who === "string" ? [[who, followSource(store, place)] as const] : [],
    ),
  );
  const ofPort = port.bound === null ? null : followSource(store, port.bound);
  const byAddress = known.flatMap(({ who, place }) =>
    typeof who === "string" ? [] : [{ who, find: followSource(store, place) }],
  );
  return ({ address, certificate }) => {
    const shown = certificate === null ? undefined : byCertificate.get(certificate);
    if (shown !== undefined) return shown();
    if (ofPort !== null) return ofPort();
    return byAddress.find(({ who }) => inCidr(address, who))?.find() ?? null;
  };
}
