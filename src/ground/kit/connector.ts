import { isIP, type LookupFunction } from "node:net";
import { getCACertificates } from "node:tls";
import type { buildConnector } from "undici";
import { type AddressRules, addressRefusal } from "./addresses.ts";
import { EgressFault } from "./egress-error.ts";
import type { Names } from "./names.ts";

export interface ConnectorOptions {
  rules: AddressRules;
  /** Limit for lookup, connection and TLS handshake together. */
  connectMs: number;
  names: Names;
  /** Certificates (PEM) that are trusted beside the default ones. */
  ca: readonly string[];
  /** undici's function. Passed in, because undici is loaded only with the first request. */
  build: typeof buildConnector;
}

/** How long one of several addresses is tried alone. Node's 250 ms is too short for slow lines. */
export const ONE_ADDRESS_MS = 1_000;

/**
 * A connector that calls allowed addresses only. It checks three times: a literal host before any lookup; each address
 * that a lookup returns, which are the ones connected to; and the address that the socket reports.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connect = options.build({
    allowH2: false,
    timeout: options.connectMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ONE_ADDRESS_MS,
    lookup: guardedLookup(options.names, options.rules),
    ...(options.ca.length > 0 && { ca: trustedBeside(options.ca) }),
  });
  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && addressRefusal(target.hostname, options.rules) !== null) {
      callback(new EgressFault("address_refused"), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (addressRefusal(socket.remoteAddress ?? "", options.rules) === null) {
        return callback(null, socket);
      }
      socket.destroy();
      callback(new EgressFault("address_refused"), null);
    });
  };
}

/** The default certificates and these. */
export function trustedBeside(ca: readonly string[]): string[] {
  return [...getCACertificates("default"), ...ca];
}

/** A lookup that returns only allowed addresses. It checks each time: cached addresses are unchecked. */
export function guardedLookup(names: Names, rules: AddressRules): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    names.lookup(hostname).then(
      (found) => {
        const [first, ...more] = found.filter(
          ({ address }) => addressRefusal(address, rules) === null,
        );
        if (first === undefined) {
          callback(new EgressFault(found.length === 0 ? "dns" : "address_refused"), []);
        } else if (lookupOptions.all) {
          callback(null, [first, ...more]);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error) => callback(error, []),
    );
  };
}
