import * as z from "zod";
import {
  pushKeyAnswer,
  subscriptionAnswer,
  subscriptionChange,
  subscriptionReadOnly,
  subscriptionWrite,
} from "../../../out/contacts/subscription.ts";
import {
  addSubscription,
  alterSubscription,
  dropSubscription,
  pushKey,
  readSubscriptions,
  ringSubscription,
} from "../../../tenant/push-verbs.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";
import { sentAnswer } from "./contacts.ts";

const push = routesIn(inTenant, { at: "/push", tag: "Push", additive: true });

const of = ({ pid }: { pid: string }, { accountId }: { accountId: string }) => ({
  account: accountId,
  id: pid,
});

/** Browsers that are pushed to without anybody between: the caller's own. */
export const pushRoutes: Route[] = [
  push.get("/key", {
    name: "getPushKey",
    summary: "The key that browsers subscribe with; the box makes it when it is first asked for",
    answer: pushKeyAnswer,
    handle: ({ tenant }) => ({ public_key: pushKey(tenant) }),
  }),
  push.get("/subscriptions", {
    name: "listPushSubscriptions",
    summary: "The caller's browsers that get pushes, by age",
    answer: z.object({ subscriptions: z.array(subscriptionAnswer) }),
    handle: ({ tenant, actor }) => ({ subscriptions: readSubscriptions(tenant, actor.accountId) }),
  }),
  push.post("/subscriptions", {
    name: "createPushSubscription",
    summary: "Add a browser: it counts at once, and replaces its earlier subscription",
    body: subscriptionWrite,
    readOnly: subscriptionReadOnly,
    status: 201,
    answer: subscriptionAnswer,
    errors: ["invalid_subscription", "too_many", "address_refused"],
    handle: ({ tenant, actor, body }) => addSubscription(tenant, actor.accountId, body),
  }),
  push.patch("/subscriptions/{pid}", {
    name: "changePushSubscription",
    summary: "Change a browser's name, what it is pushed, and what its lock screen shows",
    body: subscriptionChange,
    answer: subscriptionAnswer,
    errors: ["invalid_subscription"],
    handle: ({ tenant, actor, params, body }) => alterSubscription(tenant, of(params, actor), body),
  }),
  push.delete("/subscriptions/{pid}", {
    name: "deletePushSubscription",
    summary: "Remove a browser; pages that wait for it are withdrawn",
    handle: ({ tenant, actor, params }) => dropSubscription(tenant, of(params, actor)),
  }),
  push.post("/subscriptions/{pid}/test", {
    name: "testPushSubscription",
    summary: "Push a test; a yes of the push service doesn't mean that it was shown",
    auditAlways: true,
    answer: sentAnswer,
    errors: ["contact_not_verified"],
    handle: ({ tenant, actor, params }) => ringSubscription(tenant, of(params, actor)),
  }),
];
