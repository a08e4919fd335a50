import { shellQuoted } from "../../../ground/kit/shell.ts";
import { type GivenFile, ImportFault } from "../given-file.ts";
import type {
  Imported,
  ImportedProject,
  Importer,
  ImportLine,
  ImportOptions,
} from "../importer.ts";
import { UniqueNames } from "../names.ts";
import { SecretNames } from "../secrets.ts";
import { conditionsOf } from "./conditions.ts";
import { inhibited, MOST_IDENTIFIERS, PROJECT_RULES, type RulePart } from "./inhibit.ts";
import { readIntervals, windowsOf } from "./intervals.ts";
import { liveAlertmanager } from "./live.ts";
import { type Part, partOf } from "./part.ts";
import { type PlannedRoute, planRoutes } from "./plan.ts";
import { channelsOf, readReceivers } from "./receivers.ts";
import { isSilences, readSilences, type Silence, silenceCommand } from "./silences.ts";
import { readTree } from "./tree.ts";

/**
 * Alertmanager's configuration and its active silences. A route becomes one or more rules, receivers become channels of
 * one project, inhibition rules become `silenced_by`, and muted times become maintenance.
 */
export const alertmanagerImporter: Importer = {
  system: "alertmanager",
  title: "Alertmanager",
  live: liveAlertmanager,
  read(files, options) {
    const { config, silences, lists, report } = sorted(files, options);
    const project = options.project ?? "alertmanager";
    const receivers = readReceivers(config.field("receivers"));
    const root = readTree(config.field("route"), new Set(receivers.keys()));
    const tells = ({ route }: PlannedRoute) => receivers.get(route.receiver)?.tells ?? false;
    const planned = planRoutes(root);
    report.push(...planned.flatMap((one) => routeLines(one, { tells: tells(one), project })));
    const { pieces, report: inhibitions } = inhibited(planned.filter(tells), {
      part: config.field("inhibit_rules"),
      quiet: planned.filter((one) => !tells(one)),
    });
    const identifiers = commonIdentifiers(pieces, silences);
    const rules = rulesOf(pieces, identifiers);
    if (rules.length > PROJECT_RULES)
      throw config
        .field("route")
        .fault(`the routes make ${rules.length} rules, and a project has at most ${PROJECT_RULES}`);
    const windows = windowsOf(
      rules.map(({ rule, piece }) => ({ name: rule.name, route: piece.planned.route })),
      { intervals: readIntervals(config), now: options.now },
    );
    const used = new Set(planned.map(({ route }) => route.receiver));
    const secrets = new SecretNames();
    const channels = channelsOf(
      [...receivers.values()].filter(({ name }) => used.has(name)),
      { global: config.field("global"), secrets },
    );
    const commands = silences.map((silence) =>
      silenceCommand(silence, { project, identifiers, now: options.now }),
    );
    report.push(...inhibitions, ...windows.report, ...channels.report);
    report.push(...commands.map(({ line }) => line), ...generalLines(config, { used, pieces }));
    report.push(...[config, ...lists].flatMap(unreadLines));
    return {
      config: {
        format: 1,
        projects: [
          {
            name: project,
            imported_from: "alertmanager",
            sources: [
              { name: "alertmanager", kind: "alertmanager", imported_from: "alertmanager:source" },
            ],
            integrations: channels.integrations,
            rules: rules.map(({ rule }) => rule),
            ...(windows.maintenance.length > 0 && { maintenance: windows.maintenance }),
          },
        ],
      },
      report,
      secrets: secrets.secrets,
      commands: commands.flatMap(({ command }) => command ?? []),
    } satisfies Imported;
  },
};

/** Sorts the files: one configuration, and any number of silence lists. Other files are reported and ignored. */
function sorted(files: readonly GivenFile[], { now }: ImportOptions) {
  const report: ImportLine[] = [];
  const silences: Silence[] = [];
  const lists: Part[] = [];
  let config: Part | null = null;
  for (const file of files) {
    const part = partOf(file);
    if (isSilences(part)) {
      lists.push(part);
      silences.push(...readSilences(part, now));
    } else if (!isConfig(part)) {
      const how =
        "is neither a configuration with a route nor a list of silences, and was left out.";
      report.push({ sort: "impossible", what: file.name, how });
    } else if (config === null) config = part;
    else throw new ImportFault(`${file.name}: it is a second configuration; name one`);
  }
  if (config === null)
    throw new ImportFault(
      `${files.map(({ name }) => name).join(", ")}: none is a configuration of Alertmanager, which has a route`,
    );
  return { config, silences, lists, report };
}

const isConfig = ({ value }: Part): boolean =>
  typeof value === "object" && value !== null && "route" in value;

/** Names of alerts that always fire, so that their end shows that the sender has died. */
const ALWAYS = /watchdog|dead.?man/i;

function routeLines(
  { route, clauses, shared }: PlannedRoute,
  { tells, project }: { tells: boolean; project: string },
): ImportLine[] {
  const what = `route ${route.title || "around all"}`;
  if (clauses.length === 0) return [{ sort: "exact", what, how: "no alert stays there: no rule." }];
  if (!tells && ALWAYS.test(route.title))
    return [
      {
        sort: "approximate",
        what,
        how: `${route.receiver} notifies nobody: no rule. To be paged when Prometheus or Alertmanager dies: box heartbeat add ${shellQuoted(project)} watchdog --every 5m --watch alertmanager:alertname=Watchdog, and let this route end at the receiver that calls the box, with repeat_interval 1m.`,
      },
    ];
  if (!tells)
    return [
      {
        sort: "exact",
        what,
        how: `${route.receiver} has no configuration and notifies nobody: no rule.`,
      },
    ];
  const lost = new Set(clauses.flatMap((clause) => conditionsOf(clause, "absent").lost));
  const lines: ImportLine[] = [];
  if (lost.size > 0)
    lines.push({
      sort: "approximate",
      what,
      how: `its rule matches more, because no condition can express ${[...lost].join(", ")} (a key that isn't there passes no positive comparison).`,
    });
  if (shared.length > 0)
    lines.push({
      sort: "approximate",
      what,
      how: `order-dependent: its rule also matches the alerts of ${listed(shared.map((title) => `route ${title}`))}.`,
    });
  return lines.length > 0 ? lines : [{ sort: "exact", what, how: "a rule matches the same." }];
}

const unreadLines = (part: Part): ImportLine[] =>
  part.unread().map(({ kind, fields }) => ({
    sort: "impossible",
    what: kind,
    how: `The box has no place for its ${fields.join(", ")}.`,
  }));

/** Cut, so that a person can still read the list. */
function listed(texts: readonly string[]): string {
  const more = texts.length - 5;
  return texts.slice(0, 5).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Labels that silences match and that the alerts of every rule have. */
function commonIdentifiers(pieces: readonly RulePart[], silences: readonly Silence[]): Set<string> {
  const room = MOST_IDENTIFIERS - Math.max(0, ...pieces.map(({ identifiers }) => identifiers.size));
  const asked = new Set(silences.flatMap(({ matchers }) => matchers.map(({ name }) => name)));
  return new Set([...asked].slice(0, room));
}

type RuleInput = NonNullable<ImportedProject["rules"]>[number];

function rulesOf(
  pieces: readonly RulePart[],
  common: ReadonlySet<string>,
): { rule: RuleInput; piece: RulePart }[] {
  const names = new UniqueNames(200);
  const named = new Map(pieces.map((piece) => [piece, names.give(wordsOf(piece))]));
  const ids = new UniqueNames(480);
  return pieces.map((piece) => {
    const { route } = piece.planned;
    const labels = route.groupBy.includes("...") ? [] : route.groupBy;
    const identifiers = [...new Set([...piece.identifiers, ...common, ...labels])];
    const above = piece.above.map((one) => ({
      rule: named.get(one.piece) ?? "",
      equal: [...one.equal],
    }));
    const { conditions } = conditionsOf(piece.clause, "absent");
    const rule: RuleInput = {
      name: named.get(piece) ?? "",
      ...(conditions.length > 0 && { conditions }),
      renotify_minutes: Math.min(525_600, Math.max(1, Math.ceil(route.repeatSeconds / 60))),
      ...(identifiers.length > 0 && { identifier_keys: identifiers.slice(0, MOST_IDENTIFIERS) }),
      ...(above.length > 0 && { silenced_by: above }),
      imported_from: `alertmanager:route ${ids.give(matchedBy(piece))}`,
    };
    return { rule, piece };
  });
}

/** What a route matches: it has no other id, and its receiver may get another name. */
function matchedBy({ planned: { route }, words }: RulePart): string {
  const more = words.filter((word) => !route.title.split(", ").includes(word));
  const all = [route.title, ...more].filter((text) => text !== "").join(", ");
  return all || "everything else";
}

const wordsOf = (piece: RulePart): string => `${piece.planned.route.receiver}: ${matchedBy(piece)}`;

/** Report lines for every configuration. */
function generalLines(
  config: Part,
  { used, pieces }: { used: ReadonlySet<string>; pieces: readonly RulePart[] },
): ImportLine[] {
  const lines: ImportLine[] = [
    {
      sort: "approximate",
      what: "group_by, group_wait, group_interval",
      how: "here each alert is separate and is sent at once; the labels are its identifiers, and in a storm a chat gets one message a minute.",
    },
    {
      sort: "approximate",
      what: "people",
      how: "Alertmanager has none, so the rules have no ladder and only notify channels: add escalations with accounts or schedules.",
    },
  ];
  const rooms = new Set(pieces.map(({ planned }) => planned.route.receiver));
  if (rooms.size > 1)
    lines.push({
      sort: "approximate",
      what: `receivers ${[...rooms].join(", ")}`,
      how: "each channel of a project gets all its alerts, whichever route they took: the rule names the route. To separate them, make a project for each team, with a source of its own.",
    });
  for (const part of config.field("receivers").list()) {
    const name = part.field("name").text();
    const how = "no route names it, so it was left out.";
    if (!used.has(name)) {
      part.leave();
      lines.push({ sort: "approximate", what: `receiver ${name}`, how });
    }
  }
  if (config.field("templates").list().length > 0)
    lines.push({
      sort: "approximate",
      what: "templates",
      how: "left out: messages have the box's texts, or a channel's title_template and body_template.",
    });
  return lines;
}
