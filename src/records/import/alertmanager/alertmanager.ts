import { shellQuoted } from "../../../ground/kit/shell.ts";
import { type GivenFile, ImportFault } from "../given-file.ts";
import {
  type Imported,
  type ImportedProject,
  type Importer,
  type ImportOptions,
  ImportReport,
} from "../importer.ts";
import { fieldAt, fileOf, type LiveReader } from "../live.ts";
import { UniqueNames } from "../names.ts";
import { SecretNames } from "../secrets.ts";
import { conditionsOf } from "./conditions.ts";
import { inhibited, MOST_IDENTIFIERS, PROJECT_RULES, type RulePart } from "./inhibit.ts";
import { readIntervals, windowsOf } from "./intervals.ts";
import { type Part, partOf } from "./part.ts";
import { type PlannedRoute, planRoutes } from "./plan.ts";
import { channelsOf, readReceivers } from "./receivers.ts";
import { isSilences, readSilences, type Silence, silenceCommand } from "./silences.ts";
import { readTree } from "./tree.ts";

const liveAlertmanager: LiveReader = {
  headers: null,
  *files() {
    const status = yield { path: "/api/v2/status" };
    const text = fieldAt(status, "config", "original");
    if (typeof text !== "string") throw new ImportFault("its status has no configuration");
    return [
      { name: "alertmanager.yml", text },
      fileOf("silences.json", yield { path: "/api/v2/silences" }),
    ];
  },
};

/**
 * Alertmanager's configuration and its active silences. A route becomes one or more rules, receivers become channels of
 * one project, inhibition rules become `silenced_by`, and muted times become maintenance.
 */
export const alertmanagerImporter: Importer = {
  system: "alertmanager",
  title: "Alertmanager",
  live: liveAlertmanager,
  read(files, options) {
    const report = new ImportReport();
    const { config, silences, lists } = sorted(files, options, report);
    const project = options.project ?? "alertmanager";
    const receivers = readReceivers(config.field("receivers"));
    const root = readTree(config.field("route"), new Set(receivers.keys()));
    const tells = ({ route }: PlannedRoute) => receivers.get(route.receiver)?.tells ?? false;
    const planned = planRoutes(root);
    for (const one of planned) reportRoute(report, one, { tells: tells(one), project });
    const pieces = inhibited(planned.filter(tells), {
      part: config.field("inhibit_rules"),
      quiet: planned.filter((one) => !tells(one)),
      report,
    });
    const identifiers = commonIdentifiers(pieces, silences);
    const rules = rulesOf(pieces, identifiers);
    if (rules.length > PROJECT_RULES)
      throw config
        .field("route")
        .fault(`the routes make ${rules.length} rules, and a project has at most ${PROJECT_RULES}`);
    const maintenance = windowsOf(
      rules.map(({ rule, piece }) => ({ name: rule.name, route: piece.planned.route })),
      { intervals: readIntervals(config), now: options.now, report },
    );
    const used = new Set(planned.map(({ route }) => route.receiver));
    const secrets = new SecretNames();
    const integrations = channelsOf(
      [...receivers.values()].filter(({ name }) => used.has(name)),
      { global: config.field("global"), secrets, report },
    );
    const commands = silences.flatMap((silence) =>
      silenceCommand(silence, { project, identifiers, now: options.now, report }),
    );
    reportGeneral(report, config, { used, pieces });
    for (const { kind, fields } of [config, ...lists].flatMap((part) => part.unread()))
      report.impossible(kind, `The box has no place for its ${fields.join(", ")}.`);
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
            integrations,
            rules: rules.map(({ rule }) => rule),
            ...(maintenance.length > 0 && { maintenance }),
          },
        ],
      },
      report: report.lines,
      secrets: secrets.secrets,
      commands,
    } satisfies Imported;
  },
};

/** Sorts the files: one configuration, and any number of silence lists. Other files are reported and ignored. */
function sorted(files: readonly GivenFile[], { now }: ImportOptions, report: ImportReport) {
  const silences: Silence[] = [];
  const lists: Part[] = [];
  let config: Part | null = null;
  for (const file of files) {
    const part = partOf(file);
    if (isSilences(part)) {
      lists.push(part);
      silences.push(...readSilences(part, now));
    } else if (!isConfig(part))
      report.impossible(
        file.name,
        "is neither a configuration with a route nor a list of silences, and was left out.",
      );
    else if (config === null) config = part;
    else throw new ImportFault(`${file.name}: it is a second configuration; name one`);
  }
  if (config === null)
    throw new ImportFault(
      `${files.map(({ name }) => name).join(", ")}: none is a configuration of Alertmanager, which has a route`,
    );
  return { config, silences, lists };
}

const isConfig = ({ value }: Part): boolean =>
  typeof value === "object" && value !== null && "route" in value;

/** Names of alerts that always fire, so that their end shows that the sender has died. */
const ALWAYS = /watchdog|dead.?man/i;

function reportRoute(
  report: ImportReport,
  { route, clauses, shared }: PlannedRoute,
  { tells, project }: { tells: boolean; project: string },
): void {
  const what = `route ${route.title || "around all"}`;
  const { receiver } = route;
  const lost = new Set(clauses.flatMap((clause) => conditionsOf(clause, "absent").lost));
  if (clauses.length === 0) report.exact(what, "no alert stays there: no rule.");
  else if (!tells && ALWAYS.test(route.title))
    report.nearly(
      what,
      `${receiver} notifies nobody: no rule. To be paged when Prometheus or Alertmanager dies: box heartbeat add ${shellQuoted(project)} watchdog --every 5m --watch alertmanager:alertname=Watchdog, and let this route end at the receiver that calls the box, with repeat_interval 1m.`,
    );
  else if (!tells)
    report.exact(what, `${receiver} has no configuration and notifies nobody: no rule.`);
  else if (lost.size + shared.length === 0) report.exact(what, "a rule matches the same.");
  if (!tells || clauses.length === 0) return;
  if (lost.size > 0)
    report.nearly(
      what,
      `its rule matches more, because no condition can express ${[...lost].join(", ")} (a key that isn't there passes no positive comparison).`,
    );
  if (shared.length > 0)
    report.nearly(
      what,
      `order-dependent: its rule also matches the alerts of ${listed(shared.map((title) => `route ${title}`))}.`,
    );
}

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

/** What is said of every configuration. */
function reportGeneral(
  report: ImportReport,
  config: Part,
  { used, pieces }: { used: ReadonlySet<string>; pieces: readonly RulePart[] },
): void {
  report.nearly(
    "group_by, group_wait, group_interval",
    "here each alert is separate and is sent at once; the labels are its identifiers, and in a storm a chat gets one message a minute.",
  );
  report.nearly(
    "people",
    "Alertmanager has none, so the rules have no ladder and only notify channels: add escalations with accounts or schedules.",
  );
  const rooms = new Set(pieces.map(({ planned }) => planned.route.receiver));
  if (rooms.size > 1)
    report.nearly(
      `receivers ${[...rooms].join(", ")}`,
      "each channel of a project gets all its alerts, whichever route they took: the rule names the route. To separate them, make a project for each team, with a source of its own.",
    );
  for (const part of config.field("receivers").list()) {
    const name = part.field("name").text();
    if (used.has(name)) continue;
    part.leave();
    report.nearly(`receiver ${name}`, "no route names it, so it was left out.");
  }
  if (config.field("templates").list().length > 0)
    report.nearly(
      "templates",
      "left out: messages have the box's texts, or a channel's title_template and body_template.",
    );
}
