import { awayAnswer, awayWrite, readAway, writeAway } from "../../../core/oncall/away.ts";
import type { Route } from "../route.ts";
import { ofAccount, routesIn } from "../scope.ts";

const person = routesIn(ofAccount, { at: "/away", tag: "On-call", additive: true });

/** When a person is away: their shifts are marked, and they are asked to find cover. */
export const awayRoutes: Route[] = [
  person.get("", {
    name: "getAway",
    summary: "When a person is away; `me` is the caller",
    answer: awayAnswer,
    read: (store, { account }) => readAway(store, account),
  }),
  person.put("", {
    name: "putAway",
    summary: "Replace a person's times away; schedules don't change by it",
    body: awayWrite,
    reads: awayAnswer,
    answer: awayAnswer,
    errors: ["address_refused"],
    handle: ({ tenant: { store, sealer, addressRules: rules }, account, body: input }) =>
      store.write((tx) => writeAway(tx, account, { input, sealer, rules })),
  }),
];
