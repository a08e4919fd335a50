import assert from "node:assert/strict";
import { literalsOf } from "../../../src/records/import/alertmanager/literals.ts";
import {
  MatcherFault,
  matcherText,
  parseMatchers,
} from "../../../src/records/import/alertmanager/matchers.ts";
import { long, test } from "../../support/long.ts";
import { importOf, linesOf, NOW } from "./imported.ts";

/* Each as amtool takes or refuses it. */
const matchers: [text: string, said: string | null][] = [
  ["a=foo bar", 'a="foo bar"'],
  [' a = "x" ', 'a="x"'],
  ['a="x\\"y"', 'a="x\\"y"'],
  ['a="x\\n"', 'a="x\\n"'],
  ["a=", 'a=""'],
  ["a=b,c=d", 'a="b", c="d"'],
  ["{a=b}", 'a="b"'],
  ["a=b,", 'a="b"'],
  ['a="b,c",d!~"e|f"', 'a="b,c", d!~"e|f"'],
  ["a= b c ", 'a="b c"'],
  ["a='x'", `a="'x'"`],
  ['a="\\x"', 'a="\\\\x"'],
  ['a=~"x.*"', 'a=~"x.*"'],
  // The newer syntax alone.
  ['{"a name"="b"}', '"a name"="b"'],
  ["ü.b!=c", '"ü.b"!="c"'],
  ['{"\\u00fc"=~"d", e="f",}', '"ü"=~"d", e="f"'],
  ...["a", 'a=x"y', 'a="x', 'a="b",,c=d', 'a="b" c="d"', '{"a b"="c"', '"a\\q"=b'].map(
    (text): [string, null] => [text, null],
  ),
];
for (const [text, said] of matchers)
  test(`the matcher ${text} is ${said ?? "none"}`, () => {
    if (said === null) assert.throws(() => parseMatchers(text), MatcherFault);
    else assert.equal(parseMatchers(text).map(matcherText).join(", "), said);
  });

const patterns: [pattern: string, texts: string[] | null][] = [
  ["foo", ["foo"]],
  ["foo1|foo2|baz", ["foo1", "foo2", "baz"]],
  ["(?:eu|us)-(1|2)", ["eu-1", "eu-2", "us-1", "us-2"]],
  ["^(a|b)$", ["a", "b"]],
  ["db\\.example\\.com", ["db.example.com"]],
  ["a||b", ["a", "", "b"]],
  ...["a.c", "a*", "(a|b)?", "[ab]", "\\d", "a{2}", "(?i)a", "(a", "a)", "a^b", "(a$|b)c"].map(
    (pattern): [string, null] => [pattern, null],
  ),
];
for (const [pattern, texts] of patterns)
  test(`the pattern ${pattern} ${texts === null ? "is no list" : `lists ${texts.join(", ")}`}`, () =>
    assert.deepEqual(literalsOf(pattern), texts));

const RECEIVERS = `
global:
  smtp_smarthost: mail.example.com:587
  smtp_from: Alerts <alerts@example.com>
  smtp_auth_username: alerts
  smtp_auth_password: it's secret
  slack_api_url_file: /etc/alertmanager/slack
route:
  receiver: chat
  repeat_interval: 1d30s
  routes:
    - matchers: [team=a]
      receiver: mail
      group_by: [alertname, team]
      repeat_interval: 30m
    - matchers: [team=b]
      receiver: mixed
      group_by: ['...']
receivers:
  - name: chat
    slack_configs:
      - channel: '#ops'
        send_resolved: true
        title: '{{ .CommonAnnotations.summary }}'
      - api_url: https://slack.com/api/chat.postMessage
        channel: C123
        http_config: {authorization: {credentials: xoxb-1}}
  - name: mail
    email_configs:
      - to: 'Ann <ann@example.com>, bob@example.com'
  - name: mixed
    webhook_configs:
      - url: https://example.com/hook
      - url_file: /etc/hook
      - url: https://box.example.com/v1/in/alertmanager/tok
    telegram_configs:
      - bot_token: '1:abc'
        chat_id: -100
    msteams_configs:
      - webhook_url: <secret>
    pagerduty_configs:
      - routing_key: k
    sns_configs:
      - topic_arn: arn:x
    email_configs:
      - to: bob@example.com
  - name: spare
    discord_configs:
      - webhook_url: https://discord.com/api/webhooks/1/x
templates: ['/etc/alertmanager/*.tmpl']
`;

test("receivers become channels with credentials by name; what is no channel here is said", () => {
  const imported = importOf(RECEIVERS);
  const [project = assert.fail()] = imported.config.projects ?? [];
  const shown = project.integrations?.map(({ name, type, events }) => [
    name,
    type,
    events?.length ?? 0,
  ]);
  assert.deepEqual(shown, [
    ["chat", "slack", 0],
    ["chat (2)", "slack", 4],
    ["mail", "email", 4],
    ["mail (2)", "email", 4],
    ["mixed", "webhook", 0],
    ["mixed (2)", "telegram", 0],
    ["mixed (3)", "teams", 0],
    ["mixed (4)", "email", 4],
  ]);
  const secrets = Object.fromEntries(imported.secrets.map(({ env, value }) => [env, value]));
  assert.deepEqual(secrets, {
    SLACK_CHAT_WEBHOOK_URL: null,
    SLACK_CHAT_BOT_TOKEN: "xoxb-1",
    SLACK_CHAT_CHANNEL: "C123",
    SMTP_HOST: "mail.example.com",
    SMTP_PORT: "587",
    SMTP_TLS: "starttls",
    SMTP_USER: "alerts",
    SMTP_PASSWORD: "it's secret",
    SMTP_FROM: "alerts@example.com",
    EMAIL_MAIL_TO: "ann@example.com",
    EMAIL_MAIL_TO_2: "bob@example.com",
    TELEGRAM_MIXED_TOKEN: "1:abc",
    TELEGRAM_MIXED_CHAT_ID: "-100",
    TEAMS_MIXED_WEBHOOK_URL: null,
    EMAIL_MIXED_TO: "bob@example.com",
  });
  const from = imported.secrets.find(({ env }) => env === "SLACK_CHAT_WEBHOOK_URL")?.what;
  assert.match(from ?? "", /Alertmanager reads it from \/etc\/alertmanager\/slack$/);
  const [impossible, approximate] = ["impossible", "approximate"].map((sort) =>
    linesOf(imported, sort),
  );
  assert.deepEqual(
    impossible?.map((line) => line.split(":")[0]),
    ["receiver mixed, pagerduty_configs", "receiver mixed, sns_configs"],
  );
  assert.match(impossible?.[0] ?? "", /Until its rules have escalations they page nobody\.$/);
  for (const said of [
    /^receiver chat, slack_configs: Its channel \(#ops\).* title left out/,
    /^receiver mixed, webhook_configs: Left out: Alertmanager reads it from \/etc\/hook/,
    /^receiver mixed, webhook_configs: Left out: it calls this box/,
    /^receiver mixed, msteams_configs: It was a connector/,
    /^receivers mail, mixed, chat: each channel of a project/,
    /^receiver spare: no route names it/,
    /^templates: left out/,
    /^people: /,
    /^group_by, group_wait, group_interval: /,
  ])
    assert.ok(
      approximate?.some((line) => said.test(line)),
      `${said}\n${approximate?.join("\n")}`,
    );
  const facts = imported.rules.map(({ rule }) => [
    rule.name,
    rule.renotify_minutes,
    rule.identifier_keys,
  ]);
  assert.deepEqual(facts, [
    ['mail: team="a"', 30, ["alertname", "team"]],
    ['mixed: team="b"', 1441, []],
    ["chat: everything else", 1441, []],
  ]);
});

test("what a running Alertmanager shows of itself is read as what it was given, but for secrets", () => {
  const shown = `
global: {smtp_smarthost: 'mail.example.com:465', smtp_from: a@example.com, smtp_auth_username: a, smtp_auth_password: <secret>, smtp_require_tls: true}
route: {receiver: a, continue: false}
receivers:
- name: a
  slack_configs:
  - send_resolved: false
    http_config: {authorization: {type: Bearer, credentials: <secret>}, follow_redirects: true}
    api_url: <secret>
    channel: C123
    title: '{{ template "slack.default.title" . }}'
    text: '{{ template "slack.default.text" . }}'
  email_configs:
  - send_resolved: false
    to: b@example.com
    headers: {From: a@example.com, Subject: '{{ template "email.default.subject" . }}', To: b@example.com}
    html: '{{ template "email.default.html" . }}'
`;
  const imported = importOf(shown);
  const own = linesOf(imported, "approximate").filter((line) => line.startsWith("receiver"));
  assert.deepEqual(own, []);
  const missing = imported.secrets.filter(({ value }) => value === null).map(({ env }) => env);
  assert.deepEqual(missing, ["SLACK_A_BOT_TOKEN", "SMTP_PASSWORD"]);
  assert.equal(imported.secrets.find(({ env }) => env === "SMTP_TLS")?.value, "implicit");
  const written = shown.replace("email.default.subject", "my.subject");
  assert.match(
    linesOf(importOf(written), "approximate").join("\n"),
    /email_configs: headers left out/,
  );
});

long("of many routes that can't be left out a few are named", () => {
  const routes = Array.from({ length: 110 }, (_, i) => `{matchers: [l${i}=x]}`).join(", ");
  const lines = linesOf(importOf(one(`routes: [${routes}]`)), "approximate");
  const line = lines.find((said) => said.startsWith("route around all"));
  assert.match(line ?? "", /^route around all: order-dependent: .* route l104="x"; and 5 more\.$/);
});

const TIMES = `
route:
  receiver: a
  routes:
    - {matchers: [t=nights], mute_time_intervals: [nights]}
    - {matchers: [t=weekend], mute_time_intervals: [weekend, holidays]}
    - {matchers: [t=office], active_time_intervals: [office]}
    - {matchers: [t=gone], mute_time_intervals: [nowhere]}
    - {matchers: [t=never], mute_time_intervals: [always]}
receivers: [{name: a, webhook_configs: [{url: 'https://example.com'}]}]
time_intervals:
  - name: always
    time_intervals: [{location: UTC}]
  - name: nights
    time_intervals: [{times: [{start_time: '22:00', end_time: '24:00'}, {start_time: '00:00', end_time: '06:30'}]}]
  - name: weekend
    time_intervals: [{weekdays: [saturday, sunday], location: Europe/Vienna}]
  - name: holidays
    time_intervals: [{months: [december], days_of_month: ['24:26']}]
  - name: office
    time_intervals:
      - {weekdays: ['monday:friday'], times: [{start_time: '09:00', end_time: '17:00'}], location: Europe/Vienna}
`;

test("muted times become windows; those outside active ones, too; dates don't", () => {
  const imported = importOf(TIMES);
  const windows = imported.config.projects?.[0]?.maintenance?.map((one) => [
    one.name,
    one.repeat,
    one.timezone,
    one.starts_at,
    one.ends_at,
  ]);
  const vienna = (name: string, starts: string, ends: string) =>
    [name, "weekly", "Europe/Vienna", starts, ends] as const;
  const office = (n: string) => `outside office: a: t="office"${n}`;
  assert.deepEqual(windows, [
    ['nights: a: t="nights"', "daily", "UTC", "2026-11-22 22:00", "2026-11-23 06:30"],
    vienna('weekend: a: t="weekend"', "2026-11-28 00:00", "2026-11-30 00:00"),
    vienna(office(""), "2026-11-23 17:00", "2026-11-24 09:00"),
    vienna(office(" (2)"), "2026-11-24 17:00", "2026-11-25 09:00"),
    vienna(office(" (3)"), "2026-11-25 17:00", "2026-11-26 09:00"),
    vienna(office(" (4)"), "2026-11-26 17:00", "2026-11-27 09:00"),
    vienna(office(" (5)"), "2026-11-27 17:00", "2026-11-30 09:00"),
  ]);
  assert.ok(imported.config.projects?.[0]?.maintenance?.every(({ critical }) => critical));
  assert.deepEqual(linesOf(imported, "impossible"), [
    'route t="weekend", its times: holidays has days_of_month, months, and windows repeat daily or weekly: alerts that it would mute are sent.',
    'route t="gone", its times: there is no time interval "nowhere": alerts that it would mute are sent.',
    'route t="never", its times: always lasts always, and a window must end: alerts that it would mute are sent.',
  ]);
});

const one = (route: string, more = "") =>
  `route: {receiver: a, ${route}}\nreceivers: [{name: a, webhook_configs: [{url: 'https://example.com'}]}]\n${more}`;

test("silences that stand become commands, at most 30 days of them; others are told or left", () => {
  const silence = (more: object) => ({
    matchers: [{ name: "db", value: "it's", isRegex: false, isEqual: true }],
    startsAt: "2026-11-22T11:00:00Z",
    endsAt: "2026-11-22T15:00:00Z",
    comment: "planned",
    createdBy: "ann",
    status: { state: "active" },
    ...more,
  });
  const imported = importOf(one("group_by: [x]"), [
    silence({}),
    silence({ startsAt: "2026-11-23T00:00:00Z", endsAt: "2027-11-23T00:00:00Z" }),
    silence({ endsAt: "2026-11-22T11:30:00Z", status: { state: "expired" } }),
    silence({ matchers: [{ name: "host", value: "web-.*", isRegex: true, isEqual: false }] }),
  ]);
  const start = NOW + 12 * 3600;
  assert.deepEqual(imported.commands, [
    `box api POST /v1/silences '{"project":"alertmanager","conditions":[{"key":"db","op":"eq","value":"it'\\''s"}],"critical":true,"ends_at":${NOW + 3 * 3600},"reason":"planned (ann)"}'`,
    `box api POST /v1/silences '{"project":"alertmanager","conditions":[{"key":"db","op":"eq","value":"it'\\''s"}],"critical":true,"starts_at":${start},"ends_at":${start + 30 * 86_400},"reason":"planned (ann)"}'`,
  ]);
  assert.deepEqual(imported.rules[0]?.rule.identifier_keys, ["db", "host", "x"]);
  assert.deepEqual(linesOf(imported, "impossible"), [
    'silence host!~"web-.*": no condition can express host!~"web-.*", and a silence that would match more isn\'t made.',
  ]);
});

test("the older words of inhibition are read, what nobody hears silences nothing, and ten rules at most silence one", () => {
  const teams = Array.from({ length: 12 }, (_, i) => `{matchers: [team=t${i}], receiver: a}`);
  const inhibit = (more: string) =>
    `inhibit_rules: [{source_match: {severity: critical}, target_match_re: {severity: 'warning|info'}, ${more}}]`;
  const wide = importOf(one(`routes: [${teams.join(", ")}]`, inhibit("equal: [cluster]")));
  assert.match(
    linesOf(wide, "approximate").join("\n"),
    /inhibit rule: severity="critical" silences severity=~"warning\|info": not every rule/,
  );
  const warned = wide.rules.find(
    ({ rule }) => rule.name === 'a: team="t3", severity=~"warning|info"',
  );
  assert.deepEqual(warned?.rule.silenced_by, [
    { rule: 'a: team="t3", severity="critical"', equal: ["cluster"] },
  ]);
  // Where both have the same team none but its own can silence it.
  const narrow = importOf(one(`routes: [${teams.join(", ")}]`, inhibit("equal: [team]")));
  assert.ok(!linesOf(narrow, "approximate").some((line) => line.startsWith("inhibit")));
  const quiet = `route:
  receiver: a
  routes: [{matchers: [severity=critical], receiver: none}]
receivers: [{name: none}, {name: a, webhook_configs: [{url: 'https://example.com'}]}]
${inhibit("equal: []")}`;
  assert.match(
    linesOf(importOf(quiet), "impossible").join(),
    /^inhibit rule: .*: no route that notifies anybody has its sources/,
  );
});

const faults: [what: string, config: string, said: RegExp][] = [
  ["no route", "receivers: []", /^alertmanager\.yml: none is a configuration of Alertmanager/],
  ["no YAML", "route: [", /^alertmanager\.yml: line \d+: /],
  [
    "an unknown receiver",
    one("routes: [{receiver: b}]"),
    /^alertmanager\.yml: line 1: there is no receiver "b"/,
  ],
  ["a matcher that is none", one("\n  routes: [\n  {matchers: [a]}]"), /line 3: "a" is no matcher/],
  ["a pattern that is none", one("routes: [{match_re: {a: '['}}]"), /line 1: \[ is no pattern: /],
  ["a length that is none", one("repeat_interval: soon"), /line 1: "soon" is no length of time/],
  [
    "a day that is none",
    one("continue: false", "time_intervals: [{name: x, time_intervals: [{weekdays: [someday]}]}]"),
    /line 3: "someday" are no days/,
  ],
  ["routes that are no list", one("routes: x"), /line 1: routes must be a list/],
  [
    "aliases that grow",
    `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nroute: {}`,
    /alias/,
  ],
];
for (const [what, config, said] of faults)
  test(`${what} is told with its place`, () =>
    assert.throws(
      () => importOf(config),
      (fault: Error) => {
        assert.equal(fault.constructor.name, "ImportFault");
        assert.match(fault.message, said);
        return true;
      },
    ));

test("inhibition by more labels than a rule has identifiers compares them as labels, and says so", () => {
  const inhibit = (from: number) => {
    const equal = Array.from({ length: 30 }, (_, i) => `l${from + i}`).join(", ");
    return `{source_matchers: [severity=critical], target_matchers: [severity=warning], equal: [${equal}]}`;
  };
  const imported = importOf(one("", `inhibit_rules: [${inhibit(0)}, ${inhibit(30)}]`));
  const lines = linesOf(imported, "approximate").filter((line) => line.startsWith("inhibit"));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /: an alert that lacks a label of equal is sent/);
  const { rule } = imported.rules.find((made) => made.rule.silenced_by.length > 0) ?? {};
  assert.deepEqual(
    rule?.silenced_by.map(({ equal }) => equal.length),
    [30, 30],
  );
  assert.equal(rule?.identifier_keys.length, 30);
});
