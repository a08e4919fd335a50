import type { IncomingMessage, ServerResponse } from "node:http";
import { base62Secret } from "../src/ground/kit/ids.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { openSession } from "../src/people/sessions.ts";
import { sessionCookie } from "../src/web/http/session-cookie.ts";
import type { TestBox } from "../test/support/box.ts";

/** A link of the demonstration alone, which signs a browser in: a real box has none that does so without a password. */
export interface Door {
  /** From the slash on. */
  path: string;
  /** Signs who comes by the link in and leads them to the alerts. False: the request is for something else, and not answered. */
  open(request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * `box` is looked at as the account `accountId`. A cookie belongs to a host and all of its ports, so the door is opened at
 * `localhost` and leads there: at 127.0.0.1 it would sign a browser out of the box that `npm start` runs.
 */
export function demoDoor(box: TestBox, accountId: string): Door {
  const path = `/look/${base62Secret(systemRandom, 22)}`;
  const alerts = new URL("/alerts", box.url);
  alerts.hostname = "localhost";
  return {
    path,
    open({ url, headers }, response) {
      if (url !== path) return false;
      const agent = headers["user-agent"] ?? "";
      const { cookie } = box.tenant.store.write((tx) =>
        openSession(tx, {
          accountId,
          method: "password",
          keyId: null,
          address: "127.0.0.1",
          agent,
        }),
      );
      const answer = { location: alerts.href, "set-cookie": sessionCookie(cookie, false) };
      response.writeHead(303, { ...answer, "cache-control": "no-store" }).end();
      return true;
    },
  };
}
