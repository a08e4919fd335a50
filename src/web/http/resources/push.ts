import { z } from "zod";
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
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";
import { sentAnswer } from "./contacts.ts";

const subscriptionPath = z.strictObject({ pid: z.string() });
const push = { plane: "api", additive: true, tag: "Push" } as const;
const bodyErrors = ["invalid_request", "invalid_json"] as const;

const of = ({ pid }: { pid: string }, { accountId }: { accountId: string }) => ({
  account: accountId,
  id: pid,
});

/** Browsers that are pushed to without anybody between: the caller's own. */
export const pushRoutes: Route[] = [
  route({
    ...push,
    method: "GET",
    path: "/v1/push/key",
    name: "getPushKey",
    summary: "The key that browsers subscribe with; the box makes it when it is first asked for",
    status: 200,
    answer: pushKeyAnswer,
    errors: [],
    handle: ({ tenant }) => ({ public_key: pushKey(tenant) }),
  }),
  route({
    ...push,
    method: "GET",
    path: "/v1/push/subscriptions",
    name: "listPushSubscriptions",
    summary: "One's own browsers that are pushed to, by age",
    status: 200,
    answer: z.object({ subscriptions: z.array(subscriptionAnswer) }),
    errors: [],
    handle: ({ tenant, actor }) => ({ subscriptions: readSubscriptions(tenant, actor.accountId) }),
  }),
  route({
    ...push,
    method: "POST",
    path: "/v1/push/subscriptions",
    name: "createPushSubscription",
    summary: "Add a browser: it counts at once, and takes the place of what it had before",
    body: subscriptionWrite,
    readOnly: subscriptionReadOnly,
    status: 201,
    answer: subscriptionAnswer,
    errors: [...bodyErrors, "invalid_subscription", "too_many", "address_refused"],
    handle: ({ tenant, actor, body }) => addSubscription(tenant, actor.accountId, body),
  }),
  route({
    ...push,
    method: "PATCH",
    path: "/v1/push/subscriptions/{pid}",
    name: "changePushSubscription",
    summary: "Change what a browser is called and pushed, and what its locked screen shows",
    params: subscriptionPath,
    body: subscriptionChange,
    status: 200,
    answer: subscriptionAnswer,
    errors: [...bodyErrors, "not_found", "invalid_subscription"],
    handle: ({ tenant, actor, params, body }) => alterSubscription(tenant, of(params, actor), body),
  }),
  route({
    ...push,
    method: "DELETE",
    path: "/v1/push/subscriptions/{pid}",
    name: "deletePushSubscription",
    summary: "Remove a browser; what waits for it is withdrawn",
    params: subscriptionPath,
    status: 200,
    answer: deleted,
    errors: ["not_found"],
    handle({ tenant, actor, params }) {
      dropSubscription(tenant, of(params, actor));
      return { deleted: true };
    },
  }),
  route({
    ...push,
    method: "POST",
    path: "/v1/push/subscriptions/{pid}/test",
    name: "testPushSubscription",
    summary: "Push a test; that its service took it isn't that it was shown",
    deed: true,
    params: subscriptionPath,
    status: 200,
    answer: sentAnswer,
    errors: ["not_found", "contact_not_verified"],
    handle: ({ tenant, actor, params }) => ringSubscription(tenant, of(params, actor)),
  }),
];
