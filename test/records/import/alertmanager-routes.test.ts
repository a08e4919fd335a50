import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { matcherOf } from "../../../src/core/quiet/decide.ts";
import { surely } from "../../../src/core/quiet/labels.ts";
import { silenceWrite } from "../../../src/core/quiet/silence.ts";
import { identifiersOf } from "../../../src/in/ingest/alert-key.ts";
import { matcherText } from "../../../src/records/import/alertmanager/matchers.ts";
import { needs } from "../../support/commands.ts";
import { long, test } from "../../support/long.ts";
import { anyTime } from "../../support/patterns.ts";
import fc from "../../support/property.ts";
import { scratch } from "../../support/scratch.ts";
import {
  type BookInhibition,
  type BookMatcher,
  type BookRoute,
  inhibits,
  type Labels,
  matchesAll,
  routesOf,
} from "./alertmanager-by-the-book.ts";
import { importOf, linesOf, NOW, receiverOf, takersOf } from "./imported.ts";

const NAMES = ["a", "b", "sev"];
const VALUES = ["", "x", "y", "x1", "q.r"];
const PATTERNS = [
  "x",
  "x|y",
  "(?:x|y)1",
  "x.*",
  "^x$|y",
  ".+",
  ".*",
  "",
  "|x",
  "[xy]1?",
  "x1|q\\.r",
  "[^q].*",
];

const matcher: fc.Arbitrary<BookMatcher> = fc
  .record({ name: fc.constantFrom(...NAMES), op: fc.constantFrom("=", "=", "!=", "=~", "!~") })
  .chain(({ name, op }) =>
    fc
      .constantFrom(...(op.endsWith("~") ? PATTERNS : VALUES))
      .map((value) => ({ name, op, value }) as BookMatcher),
  );
const matchers = fc.array(matcher, { minLength: 1, maxLength: 2 });
const receiver = fc.constantFrom("r0", "r1", "r2", "quiet");
const { route } = fc.letrec<{ route: BookRoute }>((tie) => ({
  route: fc.record({
    receiver,
    matchers,
    continues: fc.boolean(),
    routes: fc.oneof(
      { maxDepth: 2 },
      fc.constant<BookRoute[]>([]),
      fc.array(tie("route"), { maxLength: 3 }),
    ),
  }),
}));
const tree = fc.record({
  receiver,
  matchers: fc.constant<BookMatcher[]>([]),
  continues: fc.constant(false),
  routes: fc.array(route, { maxLength: 4 }),
});
const inhibition: fc.Arbitrary<BookInhibition> = fc.record({
  source: matchers,
  target: matchers,
  equal: fc.subarray(["a", "b"]),
});
const labels: fc.Arbitrary<Labels> = fc.record({
  a: fc.constantFrom(...VALUES),
  b: fc.constantFrom(...VALUES),
  sev: fc.constantFrom(...VALUES),
});

function routeText({ receiver: to, matchers: all, continues, routes }: BookRoute): object {
  return {
    receiver: to,
    matchers: all.map(matcherText),
    continue: continues,
    routes: routes.map(routeText),
  };
}

const configOf = (root: BookRoute, inhibitions: readonly BookInhibition[] = []) => ({
  route: routeText(root),
  receivers: ["r0", "r1", "r2", "quiet"].map((name) =>
    name === "quiet"
      ? { name }
      : { name, webhook_configs: [{ url: `https://example.com/${name}` }] },
  ),
  inhibit_rules: inhibitions.map(({ source, target, equal }) => ({
    source_matchers: source.map(matcherText),
    target_matchers: target.map(matcherText),
    equal,
  })),
});

test("whatever the tree, its rules take what Alertmanager's routes do: nobody is left out, and where the report says exact nobody is added", () => {
  let exact = 0;
  fc.assert(
    fc.property(tree, fc.array(labels, { minLength: 12, maxLength: 12 }), (root, alerts) => {
      const imported = importOf(configOf(root));
      const isExact = !linesOf(imported, "approximate").some((line) => line.startsWith("route "));
      if (isExact) exact += 1;
      for (const alert of alerts) {
        const theirs = routesOf(root, alert)
          .map((one) => one.receiver)
          .filter((name) => name !== "quiet");
        const ours = takersOf(imported.rules, alert).map(receiverOf);
        if (isExact) assert.deepEqual(ours.toSorted(), theirs.toSorted(), JSON.stringify(alert));
        const left = theirs.filter((name) => !ours.includes(name));
        assert.deepEqual(left, [], JSON.stringify(alert));
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(exact > 5, `${exact} trees were exact`);
});

long(
  "whatever the inhibition rules, no alert is silenced that Alertmanager tells, and where the report says exact none is told that it holds back",
  () => {
    let [exact, held] = [0, 0];
    const pairs = fc.array(fc.tuple(labels, labels), { minLength: 12, maxLength: 12 });
    const rules = fc.array(inhibition, { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(tree, rules, pairs, (root, inhibitions, alerts) => {
        const imported = importOf(configOf(root, inhibitions));
        const bad = ["approximate", "impossible"].flatMap((sort) => linesOf(imported, sort));
        const isExact = !bad.some(
          (line) => line.startsWith("inhibit ") || line.startsWith("route "),
        );
        if (isExact) exact += 1;
        for (const [by, alert] of alerts) {
          const isHeld = inhibitions.some((one) => inhibits(one, { by, labels: alert }));
          const sources = takersOf(imported.rules, by);
          for (const { rule } of takersOf(imported.rules, alert)) {
            const said = (keys: Labels, names: readonly string[]) => ({
              identifiers: identifiersOf(names, keys),
              labelled: () => ({ labels: { ...keys }, varied: {}, varied_more: [] }),
            });
            const isQuiet = rule.silenced_by.some(({ rule: name, equal }) => {
              const values = surely(said(alert, rule.identifier_keys), equal);
              return sources.some(
                (one) =>
                  one.rule.name === name &&
                  values !== null &&
                  surely(said(by, one.rule.identifier_keys), equal) === values,
              );
            });
            if (isQuiet) held += 1;
            const what = JSON.stringify({ by, alert, rule: rule.name });
            if (isQuiet) assert.ok(isHeld, what);
            if (isExact && isHeld && sources.length > 0) assert.ok(isQuiet, what);
          }
        }
      }),
      { numRuns: 60 },
    );
    assert.ok(exact > 3 && held > 3, `${exact} were exact, ${held} alerts held back`);
  },
);

test("whatever the silence, its command takes what Alertmanager's does, or there is none", () => {
  let made = 0;
  fc.assert(
    fc.property(matchers, fc.array(labels, { minLength: 12, maxLength: 12 }), (all, alerts) => {
      const silence = {
        matchers: all.map(({ name, op, value }) => ({
          name,
          value,
          isRegex: op.endsWith("~"),
          isEqual: !op.startsWith("!"),
        })),
        startsAt: "2026-11-22T11:00:00Z",
        endsAt: "2026-11-22T15:00:00.5Z",
      };
      const { commands } = importOf(
        configOf({ receiver: "r0", matchers: [], continues: false, routes: [] }),
        [silence],
      );
      const [command] = commands;
      if (command === undefined) return;
      made += 1;
      const json = /^box api POST \/v1\/silences '(.*)'$/s
        .exec(command)?.[1]
        ?.replaceAll(`'\\''`, "'");
      const {
        project: _p,
        starts_at: _s,
        ends_at,
        repeat: _r,
        ...body
      } = silenceWrite.parse(JSON.parse(json ?? ""));
      assert.equal(ends_at, NOW + 3 * 3600);
      const takes = matcherOf(body);
      for (const alert of alerts) {
        const labels = { labels: { ...alert }, varied: {}, varied_more: [] };
        const subject = {
          projectId: 1,
          rule: "r",
          templateId: "t",
          source: "s",
          level: 500,
        };
        assert.equal(
          takes({ ...subject, identifiers: { ...alert }, labelled: () => labels }, anyTime),
          matchesAll(all, alert),
          command,
        );
      }
    }),
    { numRuns: 60 },
  );
  assert.ok(made > 15, `${made} commands`);
});

const JUDGED = `
route:
  receiver: fallback
  routes:
    - matchers: ['team=~"db|cache"', env!="test"]
      receiver: db
      routes:
        - match: {severity: critical}
          receiver: db-pager
          continue: true
        - match_re: {severity: 'crit.*|warn(ing)?'}
          receiver: db-chat
    - matchers: ['{team="web",severity="critical"}']
      receiver: web-pager
    - matchers: [team=web, 'zone=""']
      receiver: nowhere
    - matchers: [ 'zone!~"eu-(1|2)|"' , "note=\\"a \\\\\\"b\\\\\\", c\\"" ]
      receiver: web
receivers: [{name: nowhere}, ${["fallback", "db", "db-pager", "db-chat", "web-pager", "web"]
  .map((name) => `{name: ${name}, webhook_configs: [{url: 'https://example.com/${name}'}]}`)
  .join(", ")}]
`;

long("amtool says the same of where alerts go", needs("amtool"), (t) => {
  const file = join(scratch(t), "alertmanager.yml");
  writeFileSync(file, JUDGED);
  const { rules, ...imported } = importOf(JUDGED);
  assert.deepEqual(
    linesOf(imported, "approximate").filter((line) => line.startsWith("route ")),
    [],
  );
  const alerts: Labels[] = [
    { team: "db", severity: "critical" },
    { team: "cache", severity: "warning", env: "prod" },
    { team: "db", severity: "warn", env: "test" },
    { team: "db", severity: "info" },
    { team: "dbx", severity: "critical" },
    { team: "web", severity: "critical" },
    { team: "web", severity: "warning" },
    { team: "web", zone: "eu-3", note: 'a "b", c' },
    { zone: "eu-2", note: 'a "b", c' },
    { zone: "us-1", note: 'a "b", c' },
    { zone: "us-1", note: "a" },
  ];
  for (const alert of alerts) {
    const words = Object.entries(alert).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const { stdout, status } = spawnSync(
      "amtool",
      ["config", "routes", "test", `--config.file=${file}`, ...words],
      { encoding: "utf8" },
    );
    assert.equal(status, 0);
    const theirs = stdout
      .trim()
      .split(",")
      .filter((name) => name !== "nowhere");
    const ours = takersOf(rules, alert).map(receiverOf);
    assert.deepEqual(ours.toSorted(), theirs.toSorted(), words.join(" "));
  }
});
