import type { Importer } from "../importer.ts";
import { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import { type GivenRoute, takeRoutes } from "../team/routes.ts";
import { takeChain } from "./chains.ts";
import { type OnCallFiles, onCallFiles } from "./files.ts";
import { liveOnCall } from "./live.ts";
import { takeOnCallSchedule } from "./schedule.ts";
import { matchersOfTemplate } from "./templates.ts";

/** Grafana OnCall, from answers of its API. */
export const fromOnCall: Importer = {
  system: "oncall",
  title: "Grafana OnCall",
  live: liveOnCall,
  read(files, options) {
    const draft = new TeamDraft("oncall", "Grafana OnCall", options);
    const given = onCallFiles(files, draft);
    for (const user of given.users) takeUser(draft, user);
    for (const { of } of given.finals.slice(0, 1))
      if (
        given.schedules.length !== 1 &&
        !given.schedules.some((one) => of.includes(one.text("id")))
      )
        draft.impossible(
          of,
          "Its shifts don't say of which schedule they are: name the file after the schedule's id.",
        );
    const schedules = new Map(
      given.schedules.map((one) => [one.text("id"), takeOnCallSchedule(draft, one, given)]),
    );
    const named = new Set(given.schedules.flatMap((one) => one.texts("shifts")));
    const ids = new Set(given.schedules.map((one) => one.text("id")));
    for (const shift of given.shifts)
      if (!named.has(shift.text("id")) && !ids.has(shift.text("schedule")))
        draft.impossible(
          `shift ${shift.leave().text("name") || shift.text("id")}`,
          "No schedule of the files uses it: it is left out.",
        );
    const chains = new Map(
      given.chains.map((one) => [
        one.text("id"),
        takeChain(draft, one, { files: given, schedules }),
      ]),
    );
    for (const one of given.integrations) takeIntegration(draft, one, { given, chains });
    const integrations = new Set(given.integrations.map((one) => one.text("id")));
    for (const route of given.routes)
      if (!integrations.has(route.text("integration_id")))
        draft.impossible(
          `route ${route.leave().text("routing_regex") || route.text("id")}`,
          "Its integration isn't in the files: it is left out.",
        );
    return draft.finish(KNOWN);
  },
};

const KNOWN = [
  "id",
  "name",
  "type",
  "team_id",
  "username",
  "grafana_id",
  "timezone",
  "teams",
  "avatar_url",
  "email",
  "on_call_now",
  "important",
  "week_start",
  "rotation_start",
  "source",
  "position",
  "is_phone_number_verified",
  "user_pk",
  "user_username",
  "user_email",
  "user_name",
  "enable_web_overrides",
  "heartbeat",
  "templates",
];

function takeUser(draft: TeamDraft, user: Given): void {
  const role = user.text("role").toLowerCase();
  const name = user.text("name") || user.text("username");
  if (role !== "" && role !== "admin" && role !== "user" && role !== "editor")
    draft.nearly(`user ${name}`, `As ${role} they could do less than here, as a member.`);
  draft.people.add({
    id: user.text("id"),
    email: user.text("email"),
    name,
    leftOut: null,
    role: role === "admin" ? "admin" : "member",
  });
}

interface Around {
  given: OnCallFiles;
  chains: ReadonlyMap<string, string>;
}

/** Makes a source and a rule, with the ladder of the route that takes everything. */
function takeIntegration(draft: TeamDraft, one: Given, { given, chains }: Around): void {
  const [id, name, type] = [one.text("id"), one.text("name") || one.text("id"), one.text("type")];
  const what = `integration ${name}`;
  const said = draft.lines.length;
  const routes = given.routes.filter((route) => route.text("integration_id") === id);
  const last =
    one.object("default_route", "default routes") ??
    routes.find((route) => route.raw("is_the_last_route") === true);
  const before = routes
    .filter((route) => route.raw("is_the_last_route") !== true)
    .toSorted((a, b) => (a.number("position") ?? 0) - (b.number("position") ?? 0));
  for (const route of [...routes, ...(last === null || last === undefined ? [] : [last])])
    for (const channel of ["slack", "telegram", "msteams"])
      if (route.object(channel, `${channel} of routes`)?.raw("enabled") === true)
        draft.nearly(
          what,
          `It notifies ${channel}: a shared channel is an integration of the project here.`,
        );
  const ladder = chains.get(last?.text("escalation_chain_id") ?? "");
  if (ladder === undefined)
    draft.impossible(
      what,
      "The chain of its last route isn't in the files: its rule pages nobody until it has a ladder.",
    );
  const source = draft.source(name, id);
  const token = /\/integrations\/v1\/[^/]+\/([^/]+)\/?$/.exec(one.text("link"))?.[1];
  if (token !== undefined) draft.oldKey(source, [name], token);
  else
    draft.impossible(
      what,
      `Its address ${one.text("link")} has no key like others: its senders (${type}) get the new one.`,
    );
  if (one.text("inbound_email") !== "")
    draft.impossible(
      what,
      `Mail to ${one.text("inbound_email")} comes in through a source of kind email here: box connect email.`,
    );
  if (one.text("maintenance_mode") !== "")
    draft.nearly(
      what,
      `It is in ${one.text("maintenance_mode")} there; its rule here opens alerts.`,
    );
  takeRoutes(
    draft,
    before.map((route) => routeOf(route, { type, chains })),
    { what, last: { name, id, match: { sources: [source] }, ladder } },
  );
  if (draft.lines.length === said) draft.exact(what, "A source and a rule of this name.");
}

function routeOf(
  route: Given,
  { type, chains }: Pick<Around, "chains"> & { type: string },
): GivenRoute {
  const template = route.text("routing_regex");
  const kind = route.text("routing_type") || "regex";
  const chain = route.text("escalation_chain_id");
  const ladder = chains.get(chain);
  const isKnown = chain === "" || ladder !== undefined;
  return {
    title: `route ${template} (${kind})`,
    id: route.text("id") || template,
    any: isKnown ? matchersOfTemplate(template, { kind, type }) : "its chain isn't in the files",
    paging: { ladder },
  };
}
