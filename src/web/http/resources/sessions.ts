import * as z from "zod";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { sessionAnswer } from "../../../people/session.ts";
import { endOthers, endSession, visibleSessions } from "../../../people/sessions.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const sessions = routesIn(inTenant, {
  at: "/sessions",
  tag: "People",
  additive: true,
  boxOnly: true,
});

/** Browsers that are signed in (contract §32). */
export const sessionRoutes: Route[] = [
  sessions.get("", {
    name: "listSessions",
    summary: "The caller's signed-in browsers; for owners and admins those of any account",
    query: z.strictObject({
      account: z
        .string()
        .optional()
        .describe("Id of an account, or `email:` and its address. Default: your own."),
    }),
    answer: z.object({ sessions: z.array(sessionAnswer) }),
    errors: ["invalid_request", "forbidden", "not_found"],
    read: (store, { actor, query: { account = actor.accountId } }) => {
      const now = unixSeconds(store.clock);
      return { sessions: visibleSessions(store, actor.accountId, { account, now }) };
    },
  }),
  sessions.delete("", {
    name: "endOwnSessions",
    summary: "Sign all browsers of one's own account out",
    query: z.strictObject({
      others: z
        .literal("true")
        .meta({ description: "Required, so that nobody does it by accident." }),
    }),
    answer: z.object({ ended: z.int() }),
    write: (tx, { actor }) => ({ ended: endOthers(tx, actor.accountId, null) }),
  }),
  sessions.delete("/{session}", {
    name: "endSession",
    summary: "Sign a browser out, one's own or that of an account one may change",
    errors: ["forbidden"],
    write: (tx, { actor, params }) => endSession(tx, actor.accountId, params.session),
  }),
];
