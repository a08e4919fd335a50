import { connect, isIP, type Socket } from "node:net";
import { type AddressRules, addressRefusal } from "./addresses.ts";
import type { Clock } from "./clock.ts";
import { type EgressError, EgressFault, egressErrorOf } from "./egress-error.ts";
import { guardedLookup, ONE_ADDRESS_MS } from "./guarded.ts";
import type { Names } from "./names.ts";

/** A request for a connection of a protocol other than HTTP. */
export interface DialRequest {
  /** A host name, or a literal address without brackets. */
  host: string;
  port: number;
  /** Milliseconds until it is ended in any case. A server can't hold it by sending a byte at a time. */
  lifeMs: number;
  /** Limit for lookup and connection, where it is less than the client's. */
  connectMs?: number;
}

/** An open connection to an allowed address. */
export interface Dialled {
  socket: Socket;
  /** Certificates (PEM) to trust; undefined: the default ones. */
  ca: string[] | undefined;
}

interface DialOptions {
  clock: Clock;
  rules: AddressRules;
  names: Names;
  /** Limit for lookup and connection. */
  connectMs: number;
}

/** Connects with the three checks of `guardedAgent`. Rejects with an EgressFault. */
export function dial(
  { host, port, lifeMs, connectMs: most = Number.POSITIVE_INFINITY }: DialRequest,
  options: DialOptions,
): Promise<Socket> {
  const { clock, rules, names } = options;
  const connectMs = Math.min(most, options.connectMs);
  if (isIP(host) !== 0 && addressRefusal(host, rules) !== null)
    return Promise.reject(new EgressFault("address_refused"));
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      lookup: guardedLookup(names, rules),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ONE_ADDRESS_MS,
    });
    const fail = (error: EgressError) => {
      socket.destroy();
      reject(new EgressFault(error));
    };
    const tooLate = () => fail(names.heldBack(host, connectMs) ? "busy" : "timeout_connect");
    const cancel = clock.after(connectMs, tooLate);
    const end = clock.after(lifeMs, () => socket.destroy());
    // This listener stays, so an error between two users of the socket ends only the socket.
    socket.on("error", (error) => fail(egressErrorOf(error)));
    socket.once("close", () => {
      cancel();
      end();
      fail("stopped");
    });
    socket.once("connect", () => {
      cancel();
      if (addressRefusal(socket.remoteAddress ?? "", rules) !== null) fail("address_refused");
      else resolve(socket);
    });
  });
}
