import assert from "node:assert/strict";
import { test } from "node:test";
import { importOf, linesOf } from "./imported.ts";
import { withOneMore } from "./one-more.ts";

/** Each kind of part that is taken over. */
const CONFIG = {
  global: { resolve_timeout: "5m", smtp_smarthost: "mail.example:25", smtp_from: "a@b.example" },
  route: {
    receiver: "all",
    group_wait: "30s",
    routes: [
      { matchers: ["a=b"], receiver: "chat", mute_time_intervals: ["night"] },
      { match: { c: "d" }, receiver: "none", routes: [{ match_re: { e: "f|g" } }] },
      { matchers: ['alertname="Watchdog"'], receiver: "none" },
    ],
  },
  receivers: [
    { name: "all", webhook_configs: [{ url: "https://x.example/1" }] },
    {
      name: "chat",
      slack_configs: [{ api_url: "https://hooks.slack.example/1" }],
      telegram_configs: [{ bot_token: "1:a", chat_id: "5" }],
      email_configs: [{ to: "ann@example.org" }],
      pushover_configs: [{ token: "t", user_key: "u" }],
      discord_configs: [{ webhook_url: "https://discord.example/1" }],
      mattermost_configs: [{ webhook_url: "https://chat.example/1" }],
      msteams_configs: [{ webhook_url: "https://teams.example/1" }],
      msteamsv2_configs: [{ webhook_url: "https://teams.example/2" }],
    },
    { name: "none" },
  ],
  inhibit_rules: [
    { source_matchers: ["severity=critical"], target_matchers: ["severity=warning"], equal: ["a"] },
  ],
  time_intervals: [
    {
      name: "night",
      time_intervals: [
        { times: [{ start_time: "00:00", end_time: "06:00" }], weekdays: ["monday"] },
      ],
    },
  ],
};
const SILENCE = {
  id: "1",
  updatedAt: "2026-11-22T11:00:00Z",
  comment: "c",
  createdBy: "ann",
  startsAt: "2026-11-22T11:00:00Z",
  endsAt: "2026-11-23T11:00:00Z",
  status: { state: "active" },
  matchers: [{ name: "a", value: "b", isRegex: false, isEqual: true }],
};

const all = ({ report }: ReturnType<typeof importOf>) =>
  report.map(({ what, how }) => `${what}: ${how}`).join("\n");

test("a configuration that is taken over as a whole has no line of what nothing takes", () => {
  assert.doesNotMatch(all(importOf(CONFIG, [SILENCE])), /The box has no place for/);
});

for (const { at, value } of withOneMore(CONFIG, ["match", "match_re"]))
  test(`a field of the configuration that nobody knows is told: /${at}`, () => {
    assert.match(all(importOf(value as object)), /The box has no place for .*unheard_of/);
  });

for (const { at, value } of withOneMore([SILENCE]))
  test(`a field of a silence that nobody knows is told: /${at}`, () => {
    const told = all(importOf(CONFIG, value as object));
    assert.match(told, /silences.*: The box has no place for .*unheard_of/);
  });

test("settings that no channel has are told of each receiver and of all", () => {
  const imported = importOf({
    global: { http_config: { proxy_url: "http://proxy.example", follow_redirects: true } },
    route: { receiver: "all" },
    receivers: [
      {
        name: "all",
        webhook_configs: [
          {
            url: "https://x.example",
            max_alerts: 5,
            http_config: {
              basic_auth: { username: "u", password: "p" },
              authorization: { credentials: "c" },
              oauth2: { client_id: "i" },
              tls_config: { ca_file: "/ca.pem" },
              enable_http2: true,
            },
          },
        ],
        telegram_configs: [
          { bot_token: "1:a", chat_id: 5, message_thread_id: 7, parse_mode: "HTML" },
        ],
        pushover_configs: [{ token: "t", user_key: "u", sound: "siren", device: "phone" }],
        slack_configs: [{ api_url: "https://hooks.example", username: "al", icon_emoji: ":x:" }],
        email_configs: [
          { to: "a@example.org", hello: "me.example", tls_config: { server_name: "m" } },
        ],
      },
    ],
  });
  const told = linesOf(imported, "impossible").filter((line) =>
    /The box has no place for/.test(line),
  );
  const field = (kind: string, fields: string) =>
    `receiver all, ${kind}: The box has no place for its ${fields}.`;
  const http = [
    "authorization.credentials",
    "basic_auth.password",
    "basic_auth.username",
    "oauth2.client_id",
    "tls_config.ca_file",
  ];
  assert.deepEqual(told, [
    field("webhook_configs", [...http.map((one) => `http_config.${one}`), "max_alerts"].join(", ")),
    field("telegram_configs", "message_thread_id"),
    "global: The box has no place for its http_config.proxy_url.",
    field("pushover_configs", "device, sound"),
    field("slack_configs", "icon_emoji, username"),
    field("email_configs", "hello, tls_config.server_name"),
  ]);
});

test("a dead man's switch that nobody was told of is offered a heartbeat, and what is unused is named", () => {
  const told = all(
    importOf({
      ...CONFIG,
      time_intervals: [...CONFIG.time_intervals, { name: "spare", time_intervals: [{}] }],
    }),
  );
  assert.match(
    told,
    /route alertname="Watchdog": none notifies nobody: no rule\. .*box heartbeat add alertmanager watchdog --every 5m/,
  );
  assert.match(told, /route c="d": none has no configuration and notifies nobody: no rule\./);
  assert.match(told, /time interval spare: no route that notifies anybody names it/);
});

test("channels that a project has no room for are named", () => {
  const receivers = Array.from({ length: 103 }, (_, i) => ({
    name: `r${i}`,
    webhook_configs: [{ url: `https://x.example/${i}` }],
  }));
  const routes = receivers.map(({ name }) => ({ matchers: [`a=${name}`], receiver: name }));
  const told = all(importOf({ route: { receiver: "r0", routes }, receivers }));
  assert.match(
    told,
    /3 channels: a project has at most 100, so these were left out: r100, r101, r102\./,
  );
});
