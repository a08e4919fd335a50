import * as z from "zod";
import { adoptLadder, ladderCopies } from "../../../core/alerts/ladder-copies.ts";
import { changeLadder, deleteLadder, previewLadder } from "../../../core/alerts/ladders.ts";
import {
  type LadderInput,
  ladderAdopt,
  ladderAnswer,
  ladderChange,
  ladderCopiesAnswer,
  ladderCreate,
  ladderReplace,
  type StoredLadder,
} from "../../../core/projects/ladder.ts";
import {
  defaultsOf,
  getLadder,
  insertLadder,
  listLadders,
  rulesOfLadders,
} from "../../../core/projects/ladders.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { namedPeople } from "../../../people/named.ts";
import { importedLadders } from "../../../records/config-file/imported.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const ladders = routesIn(inTenant, { at: "/ladders", tag: "Ladders", additive: true });

const copies = routesIn(inTenant, { at: "/ladder-copies", tag: "Ladders", additive: true });

const people = ["steps.*.accounts.*"];
const refused = ["not_a_member", "schedule_not_shared"] as const;

/** Ladders as they are read: with the rules that refer to them and everybody whom they name. */
function shownLadders(reader: Reader, all: readonly StoredLadder[]) {
  const rules = rulesOfLadders(reader);
  const defaults = defaultsOf(reader);
  const origins = importedLadders(reader);
  return all.map(({ id, ...ladder }) => ({
    ...ladder,
    rules: rules.get(id) ?? [],
    default_of: defaults.get(id) ?? [],
    imported_from: origins.get(id) ?? null,
    people: namedPeople(
      reader,
      ladder.steps.flatMap(({ accounts }) => accounts),
    ),
  }));
}

const shown = (reader: Reader, ladder: StoredLadder) =>
  shownLadders(reader, [ladder])[0] as ReturnType<typeof shownLadders>[number];

type Given = z.output<typeof ladderReplace>;
const called = (name: string, body: Given): LadderInput => ({ ...body, name: body.name ?? name });

const previewed = ({ store, slices }: Tenant, name: string, body: Given) =>
  slices.run(previewLadder(store, { name, to: called(name, body) }, unixSeconds(store.clock)));

/** Ladders of the tenant, which rules refer to by name (contract §15, Rules). */
export const ladderRoutes: Route[] = [
  ladders.get("", {
    name: "listLadders",
    summary: "The tenant's ladders, by name",
    answer: z.object({ ladders: z.array(ladderAnswer) }),
    read: (store) => ({ ladders: shownLadders(store, listLadders(store)) }),
  }),
  ladders.post("", {
    name: "createLadder",
    summary: "Create a ladder",
    manager: true,
    body: ladderCreate,
    reads: ladderAnswer,
    people,
    status: 201,
    answer: ladderAnswer,
    errors: ["name_taken", "too_many", ...refused],
    write: (tx, { body }) => shown(tx, insertLadder(tx, body)),
  }),
  ladders.get("/{name}", {
    name: "getLadder",
    summary: "One ladder",
    answer: ladderAnswer,
    read: (store, { params }) => shown(store, getLadder(store, params.name)),
  }),
  ladders.put("/{name}", {
    name: "replaceLadder",
    summary:
      "Replace a ladder, or rename it by another name in the body; a field that is left out goes back to its default. Open alerts of its rules follow it at once",
    manager: true,
    body: ladderReplace,
    reads: ladderAnswer,
    people,
    answer: ladderAnswer.extend({ change: ladderChange }),
    errors: ["name_taken", "overloaded", ...refused],
    async handle({ tenant, params: { name }, body }) {
      const change = await previewed(tenant, name, body);
      return tenant.store.write((tx) => ({
        ...shown(tx, changeLadder(tx, { name, to: called(name, body) })),
        change,
      }));
    },
  }),
  ladders.delete("/{name}", {
    name: "deleteLadder",
    summary: "Delete a ladder that no rule refers to",
    manager: true,
    errors: ["ladder_in_use"],
    write: (tx, { params }) => deleteLadder(tx, params.name),
  }),
  ladders.post("/{name}/preview", {
    name: "previewLadder",
    summary:
      "What a change of the ladder would come to: how many rules and open alerts follow it, and whom it would page at once. Nothing is stored",
    body: ladderReplace,
    reads: ladderAnswer,
    people,
    answer: z.object({ change: ladderChange }),
    errors: ["name_taken", "overloaded", ...refused],
    handle: async ({ tenant, params, body }) => ({
      change: await previewed(tenant, params.name, body),
    }),
  }),
  copies.get("", {
    name: "listLadderCopies",
    summary: "Rules with equal rungs of their own, which one ladder could stand for",
    answer: z.object({ copies: z.array(ladderCopiesAnswer) }),
    read: (store) => ({ copies: ladderCopies(store) }),
  }),
  copies.post("", {
    name: "adoptLadder",
    summary:
      "Make a ladder of the equal rungs that rules have: they refer to it from then on. Nothing changes for open alerts, nor for what was counted",
    manager: true,
    body: ladderAdopt,
    status: 201,
    answer: ladderAnswer,
    errors: ["name_taken", "too_many", ...refused],
    write: (tx, { body }) => shown(tx, adoptLadder(tx, body)),
  }),
];
