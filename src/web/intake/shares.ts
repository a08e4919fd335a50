import type { Socket } from "node:net";
import { networkOf } from "../../ground/kit/addresses.ts";

/** Which connections of a port may stay, so that no address has all of its places. */
interface Shares {
  /** Whether this one has a place; it keeps it until it closes. */
  admits(socket: Socket): boolean;
}

/** Of one address (IPv6: /64) at most `each` have one at once. */
export function createShares(each: number): Shares {
  const held = new Map<string, number>();
  return {
    admits(socket) {
      const whose = networkOf(socket.remoteAddress ?? "");
      const taken = held.get(whose) ?? 0;
      if (taken >= each) return false;
      held.set(whose, taken + 1);
      socket.once("close", () => {
        const left = (held.get(whose) ?? 1) - 1;
        if (left === 0) held.delete(whose);
        else held.set(whose, left);
      });
      return true;
    },
  };
}
