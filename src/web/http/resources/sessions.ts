import { z } from "zod";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { sessionAnswer } from "../../../people/session.ts";
import { endOthers, endSession, visibleSessions } from "../../../people/sessions.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** Browsers that are signed in (contract §32). */
export const sessionRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/sessions",
    name: "listSessions",
    tag: "People",
    summary: "The caller's signed-in browsers; for a manager those of any account",
    plane: "api",
    boxOnly: true,
    additive: true,
    query: z.strictObject({ account: z.string().optional() }),
    status: 200,
    answer: z.object({ sessions: z.array(sessionAnswer) }),
    errors: ["invalid_request", "forbidden", "not_found"],
    handle({ tenant, actor, query }) {
      const { account = actor.accountId } = query;
      const now = unixSeconds(tenant.clock);
      return { sessions: visibleSessions(tenant.store, actor.accountId, { account, now }) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions",
    name: "endOwnSessions",
    tag: "People",
    summary: "Sign all browsers of one's own account out",
    plane: "api",
    boxOnly: true,
    additive: true,
    query: z.strictObject({
      others: z
        .literal("true")
        .meta({ description: "Required, so that nobody does it by accident." }),
    }),
    status: 200,
    answer: z.object({ ended: z.int() }),
    errors: ["invalid_request"],
    handle: ({ tenant, actor }) => ({
      ended: tenant.store.write((tx) => endOthers(tx, actor.accountId, null)),
    }),
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions/{session}",
    name: "endSession",
    tag: "People",
    summary: "Sign a browser out, one's own or that of an account one may change",
    plane: "api",
    boxOnly: true,
    additive: true,
    params: z.strictObject({ session: z.string() }),
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, actor, params }) => {
      tenant.store.write((tx) => endSession(tx, actor.accountId, params.session));
      return { deleted: true };
    },
  }),
];
