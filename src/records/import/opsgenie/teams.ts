import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import { type GivenRoute, type RoutePaging, takeRoutes } from "../team/routes.ts";
import { matchersOfCriteria } from "./criteria.ts";

import type { OpsgenieFiles } from "./files.ts";
import type { OpsgenieNames, OwnedLadder } from "./names.ts";

interface Around {
  named: OpsgenieNames;
  ladders: ReadonlyMap<string, OwnedLadder>;
}

/** Makes a rule for each team, with the sources of its integrations. */
export function takeTeams(draft: TeamDraft, given: OpsgenieFiles, around: Around): void {
  const taken = new Set<Given>();
  for (const team of given.teams) {
    const [id, name] = [team.text("id"), team.text("name")];
    const mine = given.integrations.filter((one) => {
      const owner = one.object("ownerTeam", "owner teams");
      const teamId = one.text("teamId") || owner?.text("id") || owner?.text("name") || "";
      return teamId !== "" && (teamId === id || teamId === name);
    });
    for (const one of mine) taken.add(one);
    takeTeam(draft, team, { ...around, given, integrations: mine });
  }
  const rest = given.integrations.filter((one) => !taken.has(one));
  for (const one of rest) {
    const sources = sourcesOf(draft, [one]);
    if (sources.length === 0) continue;
    const [source = ""] = sources;
    draft.nearly(
      `integration ${one.text("name")}`,
      "It belongs to no team of the files: its rule pages nobody until it has a ladder.",
    );
    draft.rule({ name: source, id: one.text("id"), match: { sources } });
  }
}

function takeTeam(
  draft: TeamDraft,
  team: Given,
  {
    named,
    ladders,
    given,
    integrations,
  }: Around & { given: OpsgenieFiles; integrations: readonly Given[] },
): void {
  const [id, name] = [team.text("id"), team.text("name") || team.text("id")];
  const what = `team ${name}`;
  const said = draft.lines.length;
  const routes = given.routes
    .filter(({ of }) => of.includes(id) || given.teams.length === 1)
    .map((one) => one.given);
  const around = { what, id, name, routes, named, ladders };
  const paging = defaultOf(draft, around);
  const before = routes
    .toSorted((a, b) => (a.number("order") ?? 0) - (b.number("order") ?? 0))
    .filter((route) => !isForAll(route));
  const found = sourcesOf(draft, integrations);
  const sources = found.length === 0 ? [draft.source(name, id)] : found;
  if (found.length === 0)
    draft.nearly(
      what,
      `No integration of kind API is in the files for it: its senders use the source ${sources[0]}.`,
    );
  const last = { name, id, match: { sources }, ...paging };
  takeRoutes(
    draft,
    before.map((route) => routeOf(draft, route, around)),
    { what, last },
  );
  if (draft.lines.length === said) draft.exact(what, "A rule of this name.");
}

interface Route extends Around {
  what: string;
  id: string;
  name: string;
  routes: readonly Given[];
}

/** Where a team's alerts go first: by the routing rule for all alerts, else its own escalation, schedule or members. */
function defaultOf(
  draft: TeamDraft,
  { what, id, name, routes, named, ladders }: Route,
): RoutePaging {
  const last = routes
    .toSorted((a, b) => (a.number("order") ?? 0) - (b.number("order") ?? 0))
    .findLast(isForAll);
  const all = [...ladders].map(([key, ladder]) => ({ key, ladder }));
  const said = last === undefined ? null : pagingOf(draft, last, { what, named, ladders });
  if (said !== null) return said;
  const mine = all.filter(({ ladder }) => ladder.team === id || ladder.team === name);
  const [first] = mine;
  if (first !== undefined) {
    if (routes.length === 0)
      draft.nearly(
        what,
        `Its routing rules aren't in the files: its alerts take the escalation ${first.ladder.name}.`,
      );
    return { ladder: first.ladder.ladder };
  }
  draft.nearly(what, "No escalation of it is in the files: its alerts page all of its members.");
  const people = named.members(id, name).map(({ email }) => email);
  return { escalations: draft.steps(what, { people, schedules: [] }) };
}

/** Whether a routing rule takes all alerts at all times. */
const isForAll = (route: Given): boolean =>
  route.object("criteria", "criteria")?.text("type") === "match-all" &&
  !route.has("timeRestriction");

/** Whom a routing rule notifies; null where that isn't in the files, or isn't said. */
function pagingOf(
  draft: TeamDraft,
  route: Given,
  { what, named, ladders }: Around & { what: string },
): RoutePaging | null {
  const notify = route.object("notify", "notified of routing rules");
  const [type, to] = [notify?.text("type") ?? "", notify?.text("id") ?? ""];
  const called = notify?.text("name") ?? "";
  if (type === "schedule") {
    const schedules = named.schedules(to, called);
    return { escalations: draft.steps(what, { people: [], schedules }) };
  }
  if (type === "none") {
    draft.nearly(
      what,
      `The alerts of its routing rule ${route.text("name")} notify nobody there, and its rule has no ladder here.`,
    );
    return {};
  }
  if (type !== "escalation") return null;
  const found = [...ladders].find(([key, ladder]) => key === to || ladder.name === called);
  if (found !== undefined) return { ladder: found[1].ladder };
  draft.impossible(
    what,
    `Its routing rule names the escalation ${called || to}, which isn't in the files.`,
  );
  return null;
}

function routeOf(draft: TeamDraft, route: Given, around: Around & { what: string }): GivenRoute {
  const title = `routing rule ${route.text("name") || route.text("id")}`;
  const criteria = route.object("criteria", "criteria");
  const any = matchersOfCriteria(criteria);
  const of = { title, id: route.text("id") || title };
  if (route.has("timeRestriction")) return { ...of, any: "it applies at some hours", paging: {} };
  if (typeof any === "string") {
    route.object("notify", "notified of routing rules")?.leave();
    return { ...of, any, paging: {} };
  }
  const paging = pagingOf(draft, route, around);
  return paging === null
    ? { ...of, any: "whom it notifies isn't in the files", paging: {} }
    : { ...of, any, paging };
}

/** Makes sources for integrations whose senders use the Alert API. The others are reported. */
function sourcesOf(draft: TeamDraft, integrations: readonly Given[]): string[] {
  return integrations.flatMap((one) => {
    const [name, type] = [one.text("name"), one.text("type")];
    const what = `integration ${name}`;
    if (type.toLowerCase() !== "api") {
      draft.impossible(
        what,
        `Its senders use the format of ${type}: box connect shows what the box has for them.`,
      );
      return [];
    }
    if (one.raw("enabled") === false)
      draft.nearly(what, "It is turned off there, but its source accepts events here.");
    const source = draft.source(name, one.text("id"));
    const key = one.text("apiKey");
    if (key !== "") draft.oldKey(source, [name], key);
    else
      draft.nearly(
        what,
        `Its key isn't in the files: copy it from its page and give it to box source add-key, or give its senders the new one.`,
      );
    return [source];
  });
}
