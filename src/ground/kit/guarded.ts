import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction, Socket } from "node:net";
import { getCACertificates } from "node:tls";
import { type AddressRules, addressRefusal } from "./addresses.ts";
import type { Clock } from "./clock.ts";
import { EgressFault } from "./egress-error.ts";
import type { Names } from "./names.ts";

interface GuardOptions {
  clock: Clock;
  rules: AddressRules;
  /** Limit for lookup, connection and TLS handshake together. */
  connectMs: number;
  names: Names;
  /** Certificates (PEM) that are trusted beside the default ones. */
  ca: readonly string[];
}

/** How long one of several addresses is tried alone. Node's 250 ms is too short for slow lines. */
export const ONE_ADDRESS_MS = 1_000;
/** How long a connection is kept for the next request, unless the other side asks for less. */
const IDLE_MS = 4_000;

/** Connections that are ready for a request: connected, and with TLS where it is needed. */
const open = new WeakSet<Socket>();

/** Calls `then` once the connection is open; never where that fails. */
export function whenOpen(socket: Socket, isSecure: boolean, then: () => void): void {
  if (open.has(socket)) then();
  else
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      if (open.has(socket)) then();
    });
}

/**
 * An agent that connects to allowed addresses only. It checks three times: a literal host before anything is called; each
 * address that a lookup returns, which are the ones connected to; and the address that the socket reports. It has no
 * proxy, whatever the environment says.
 */
export function guardedAgent(
  { isSecure, connections }: { isSecure: boolean; connections: number },
  options: GuardOptions,
): http.Agent {
  const { clock, rules, connectMs, names, ca } = options;
  const { Agent } = isSecure ? https : http;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connections,
    maxFreeSockets: connections,
    timeout: IDLE_MS,
    lookup: guardedLookup(names, rules),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ONE_ADDRESS_MS,
    ...(ca.length > 0 && { ca: trustedBeside(ca) }),
  });
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (target) => {
    const host = target.host ?? "";
    if (isIP(host) !== 0 && addressRefusal(host, rules) !== null)
      return new Socket().destroy(new EgressFault("address_refused"));
    const socket = connect(target) as Socket;
    const tooLate = () => socket.destroy(new EgressFault("timeout_connect"));
    const cancel = clock.after(connectMs, tooLate);
    socket.once("close", cancel);
    socket.once("connect", () => {
      if (addressRefusal(socket.remoteAddress ?? "", rules) !== null)
        socket.destroy(new EgressFault("address_refused"));
    });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      cancel();
      if (!socket.destroyed) open.add(socket);
    });
    return socket;
  };
  return agent;
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
