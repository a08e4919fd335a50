import { connect, isIP, type Socket } from "node:net";
import { type AddressRules, addressRefusal } from "./addresses.ts";
import type { Clock } from "./clock.ts";
import { guardedLookup, ONE_ADDRESS_MS } from "./connector.ts";
import { type EgressError, EgressFault, egressErrorOf } from "./egress-error.ts";
import type { Names } from "./names.ts";

/** A connection for a protocol that isn't HTTP. */
export interface DialRequest {
  /** A name, or a literal address without brackets. */
  host: string;
  port: number;
  /** When the connection is ended, whatever it does: no server holds one by answering a byte at a time. */
  lifeMs: number;
}

/** Open, and at a vetted address. */
export interface Dialled {
  socket: Socket;
  /** Certificates (PEM) to trust; undefined: the usual ones. */
  ca: string[] | undefined;
}

export interface DialOptions {
  clock: Clock;
  rules: AddressRules;
  names: Names;
  /** Limit for name and connection. */
  connectMs: number;
}

/** Connects by the three looks of `guardedConnector`. Rejects with an EgressFault. */
export function dial({ host, port, lifeMs }: DialRequest, options: DialOptions): Promise<Socket> {
  const { clock, rules, names, connectMs } = options;
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
    // It stays: an error between two users of the socket must end nothing but it.
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
