import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import pino from "pino";
import { adapters } from "../../src/in/adapters/list.ts";
import { type Answer, type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { pagedBox } from "../support/paged.ts";
import {
  answer,
  type Receiver,
  reset,
  startReceiver,
  startSocketServer,
} from "../support/receiver.ts";
import { pass, settle, through } from "../support/until.ts";

/** A secret for each field that takes one; each is looked for wherever it must not be. */
const canary = {
  webhookSecret: "canary-webhook-secret-1f4e",
  replacedSecret: "canary-replaced-secret-9b2c",
  endpointSecret: "canary-endpoint-secret-77aa",
  telegramToken: "112233:canary-telegram-token-5d",
  chatId: "-100776655443322",
  slackUrl: "services/T0/B0/canary-slack-url-c3",
  slackBotToken: "xoxb-canary-slack-bot-token-2e",
  discordUrl: "api/webhooks/1/canary-discord-url-a7",
  mattermostUrl: "hooks/canary-mattermost-url-b2",
  googleChatUrl: "v1/spaces/A/messages?token=canary-google-chat-url-f5",
  teamsUrl: "workflows/0?sig=canary-teams-url-6c",
  matrixToken: "canary-matrix-token-4c",
  matrixRoom: "!canary-matrix-room-d1:example.org",
  signalRecipient: "group.canarysignalrecipient77",
  gotifyToken: "canary-gotify-token-8e",
  pushoverToken: "canaryPushoverToken44444444444",
  pushoverUser: "canaryPushoverUser555555555555",
  smtpPassword: "canary-smtp-password-7d",
  topic: "canary-ntfy-topic-91",
  accessToken: "tk_canary_ntfy_token_3a",
  actionHeader: "canary-action-header-e8",
  actionBody: "canary-action-body-0d",
  oldPassword: "canary-old-password-b7",
  newPassword: "canary-new-password-e3",
  relaySecret: "canary-relay-secret-that-is-long-enough-4b",
};

let box: TestBox;
let log: pino.Logger;
let receiver: Receiver;
let mail: Awaited<ReturnType<typeof startSocketServer>>;
/** What the mail server was told: it refuses each command with the very words, decoded. */
const told: string[] = [];
const logged: string[] = [];
const answers: string[] = [];
before(async () => {
  receiver = await startReceiver();
  mail = await startSocketServer((socket) => {
    socket.write("220 mail.test\r\n");
    socket.on("data", (data) => {
      const line = data.toString().trim();
      const word = Buffer.from(line.split(" ").at(-1) ?? "", "base64").toString();
      told.push(line + word);
      if (line.startsWith("EHLO")) socket.write("250-mail.test\r\n250 AUTH PLAIN\r\n");
      else socket.write(`535 5.7.8 ${line} ${word.replaceAll("\0", " ")}\r\n`);
    });
  });
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  log = pino({ level: "trace" }, sink);
  box = await testBox(
    { telegramApi: receiver.url, pushoverApi: receiver.url, slackApi: receiver.url },
    handClock(),
    log,
  );
});
after(async () => {
  await Promise.all([receiver.close(), mail.close()]);
  await through(box, box.stop());
});

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const got = await box.api(method, path, body);
  answers.push(JSON.stringify(got.body) + JSON.stringify([...got.headers]));
  return got;
}

async function setPassword(password: string): Promise<void> {
  const hash = await box.tenant.passwords.hash(password);
  box.tenant.store.write((tx) =>
    tx.sql("UPDATE accounts SET password_hash = ? WHERE id = ?").run(hash, box.owner.accountId),
  );
}

const found = (where: string, text: string) =>
  Object.entries(canary)
    .filter(([, secret]) => text.includes(secret))
    .map(([name]) => `${name} in ${where}`);

test("no secret is in a log, an answer, a read or the database's files, whatever happens to it", async () => {
  const token = await box.project("p");
  await call("POST", "/v1/projects/p/rules", { name: "any", identifier_keys: ["k"] });
  const url = receiver.url;
  const integrations = "/v1/projects/p/integrations";
  const made = await Promise.all([
    call("POST", integrations, { type: "webhook", url, secret: canary.webhookSecret }),
    call("POST", integrations, {
      type: "telegram",
      token: canary.telegramToken,
      chat_id: canary.chatId,
    }),
    call("POST", integrations, { type: "slack", webhook_url: `${url}/${canary.slackUrl}` }),
    call("POST", integrations, { type: "slack", bot_token: canary.slackBotToken, channel: "ops" }),
    ...(["discord", "mattermost", "teams"] as const).map((type) =>
      call("POST", integrations, { type, webhook_url: `${url}/${canary[`${type}Url`]}` }),
    ),
    call("POST", integrations, {
      type: "google_chat",
      webhook_url: `${url}/${canary.googleChatUrl}`,
    }),
    call("POST", integrations, {
      type: "matrix",
      homeserver: url,
      access_token: canary.matrixToken,
      room_id: canary.matrixRoom,
    }),
    call("POST", integrations, {
      type: "signal",
      server: url,
      number: "+15550001111",
      recipient: canary.signalRecipient,
    }),
    call("POST", integrations, { type: "gotify", server: url, token: canary.gotifyToken }),
    call("POST", integrations, {
      type: "pushover",
      token: canary.pushoverToken,
      user: canary.pushoverUser,
    }),
    call("POST", integrations, {
      type: "email",
      host: "127.0.0.1",
      port: String(mail.port),
      tls: "none",
      user: "u",
      password: canary.smtpPassword,
      from: "box@example.org",
      to: "ann@example.org",
    }),
    call("POST", integrations, {
      type: "ntfy",
      server: url,
      topic: canary.topic,
      access_token: canary.accessToken,
    }),
  ]);
  await setPassword(canary.oldPassword);
  for (const given of [canary.newPassword, canary.oldPassword, canary.oldPassword])
    await call("PUT", "/v1/me/password", { old: given, new: canary.newPassword });
  await call("PUT", "/v1/me/password", {
    old: canary.newPassword,
    new: canary.oldPassword.repeat(9),
  });
  await call("PUT", "/v1/me/password", `{"old":"${canary.newPassword}"`);
  // Shown once, to whoever gave it.
  const endpoint = await box.api("POST", "/v1/projects/p/webhooks", {
    url,
    secret: canary.endpointSecret,
  });
  await call("PUT", "/v1/relay", { relay_url: url, relay_secret: canary.relaySecret });
  const action = await call("POST", "/v1/projects/p/actions", {
    name: "a",
    method: "POST",
    url,
    body: `{"key":"${canary.actionBody}"}`,
    headers: { Authorization: `Bearer ${canary.actionHeader}` },
  });
  const ids = [...made, endpoint].map(({ body }) => body.id as string);

  // The receiver answers with all it got, in bodies and in what senders quote of them.
  const echo =
    (status: number) =>
    (
      response: import("node:http").ServerResponse,
      _: unknown,
      request: { headers: object; body: string; path: string },
    ) => {
      const text = JSON.stringify(request.headers) + request.body + request.path;
      response.writeHead(status).end(JSON.stringify({ ok: false, description: text }));
    };
  for (const behaviour of [echo(500), echo(400), reset, answer(410, "gone"), echo(200)]) {
    receiver.always(behaviour);
    for (const id of ids) await call("POST", `${integrations}/${id}/test`);
    await call("POST", `/v1/projects/p/actions/${action.body.id}/test`);
    await box.ingest(token, { message: "down", keys: { k: answers.length } });
    await settle(box);
    await pass(box, 40, 5);
    for (const id of ids) await call("POST", `${integrations}/${id}/enable`);
  }
  const [first] = ids;
  await call("PUT", `${integrations}/${first}`, { secret: canary.replacedSecret });
  // Refused writes name the field and not the value.
  await call("POST", integrations, { type: "apns", secret: canary.webhookSecret });
  await call("POST", integrations, { type: "webhook", url, token: canary.telegramToken });
  await call("POST", integrations, { type: "slack", webhook_url: canary.slackUrl });
  await call("POST", integrations, {
    type: "slack",
    webhook_url: `http://169.254.169.254/${canary.slackUrl}`,
  });
  await call("POST", "/v1/projects/p/actions", {
    name: "b",
    method: "POST",
    url,
    headers: { a: `x\n${canary.actionHeader}` },
  });
  await call("POST", integrations, `{"type":"webhook","secret":"${canary.webhookSecret}"`);

  const reads = ["", ...ids.flatMap((id) => [`/${id}`, `/${id}/deliveries`])];
  for (const path of reads) await call("GET", integrations + path);
  let tries = 0;
  for (const id of ids) {
    const at = `${integrations}/${id}/deliveries`;
    for (const row of (await call("GET", at)).body.deliveries)
      tries += (await call("GET", `${at}/${row.id}`)).body.tries.length;
  }
  assert.ok(tries > 30, "what was tried is kept");
  for (const path of [
    "/v1/projects/p/webhooks",
    "/v1/projects/p/actions",
    "/v1/relay",
    "/readyz",
    "/metrics",
    "/v1/audit?limit=500",
    "/v1/alerts/1/timeline",
    `/v1/projects/p/actions/${action.body.id}`,
    `/v1/projects/p/actions/${action.body.id}/executions`,
  ])
    await call("GET", path);
  for (const name of [
    "overview",
    "list_rules",
    "get_alert",
    "why_paged",
    "alert_lines",
    "advice",
  ]) {
    const input =
      name === "list_rules"
        ? { project: "p" }
        : /^(overview|advice)$/.test(name)
          ? {}
          : { alert: "1" };
    const params = { name, arguments: input };
    await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  }

  assert.ok(answers.length > 60 && receiver.received.length > 30);
  assert.deepEqual(found("answers", answers.join("\n")), []);
  assert.deepEqual(found("logs", logged.join("\n")), []);
  const files = readdirSync(box.data).filter((file) => statSync(join(box.data, file)).isFile());
  assert.ok(files.includes("box.db") && files.includes("box.db-wal"));
  for (const file of files)
    assert.deepEqual(found(file, readFileSync(join(box.data, file), "latin1")), []);
  // The other way round: every one of them really was in use.
  const sent = receiver.received.map((request) => JSON.stringify(request)).join("\n");
  assert.ok(told.join().includes(canary.smtpPassword), "the password of the mail server went out");
  for (const secret of [
    canary.telegramToken,
    canary.chatId,
    canary.slackUrl,
    canary.actionHeader,
    canary.slackBotToken,
    canary.discordUrl,
    canary.mattermostUrl,
    canary.googleChatUrl,
    canary.teamsUrl,
    canary.pushoverToken,
    canary.pushoverUser,
    canary.matrixToken,
    encodeURIComponent(canary.matrixRoom).replace("%21", "!"),
    canary.signalRecipient,
    canary.gotifyToken,
    canary.topic,
    canary.accessToken,
    canary.actionBody,
  ])
    assert.ok(sent.includes(secret), `${secret} went out`);
});

test("a source's token is in no log, metric, read or file, wherever its sender puts it and whatever it sends", async () => {
  const open = await testBox({ adaptersListen: "127.0.0.1:0" }, handClock(), log);
  try {
    const secrets = new Map<string, string>();
    const base = [open.url, open.adaptersUrl];
    /** Those of which a refused body is kept for managers to look at. */
    const kept: string[] = [];
    await open.project("q");
    const places: [kind: string, path: (token: string) => string][] = [
      ...adapters.map(({ kind }): (typeof places)[number] => [
        kind,
        (token) => `/v1/in/${kind}/${token}`,
      ]),
      ["oncall", (token) => `/integrations/v1/webhook/${token}/`],
      ["victorops", (token) => `/integrations/generic/20131114/alert/${token}/key`],
      ["alertmanager", (token) => `/v1/in/alertmanager?token=${token}`],
    ];
    for (const [i, [kind, path]] of places.entries()) {
      const source = { name: `s${i}`, kind };
      const made = (await open.api("POST", "/v1/projects/q/sources", source)).body;
      for (const token of [made.token, made.short_token] as string[]) {
        secrets.set(`${kind} ${token.length}`, token);
        const body = JSON.stringify({ routing_key: token, service_key: token, key: token });
        for (const at of base)
          for (const sent of ["{", "", body])
            for (const end of ["%zz", "", "/no/such/path"])
              await fetch(at + path(token) + end, { method: "POST", body: sent }).then(
                (got) =>
                  got.text().then((text) => answers.push(text + JSON.stringify([...got.headers]))),
                () => null,
              );
      }
      const facts = await open.api("GET", `/v1/projects/q/sources/s${i}/facts`);
      if (facts.body.last_refused?.body) kept.push(kind);
      answers.push(JSON.stringify(facts.body));
    }
    for (const path of ["/metrics", "/readyz", "/v1/projects/q/sources", "/v1/audit?limit=500"])
      answers.push(JSON.stringify((await open.api("GET", path)).body));
    const seen = (where: string, text: string) =>
      [...secrets]
        .filter(([, token]) => text.includes(token))
        .map(([name]) => `${name} in ${where}`);
    assert.ok(secrets.size > 20 && kept.includes("pagerduty"), kept.join());
    assert.deepEqual(seen("logs", logged.join("\n")), []);
    assert.deepEqual(seen("answers", answers.join("\n")), []);
    for (const file of readdirSync(open.data))
      if (statSync(join(open.data, file)).isFile())
        assert.deepEqual(seen(file, readFileSync(join(open.data, file), "latin1")), []);
  } finally {
    await open.stop();
  }
});

test("a heartbeat's addresses are in no log, metric, read or file, whatever is called", async () => {
  const open = await testBox({}, handClock(), log);
  const secrets = new Map<string, string>();
  const seen: string[] = [];
  try {
    await open.project("p");
    await open.api("POST", "/v1/projects/p/rules", { name: "any" });
    const at = "/v1/projects/p/heartbeats";
    const made = await open.api("POST", at, { name: "job", period_seconds: 60 });
    const source = await open.api("POST", "/v1/projects/p/sources", {
      name: "jobs",
      kind: "heartbeats",
    });
    const rotated = await open.api("POST", `${at}/${made.body.id}/rotate`);
    for (const [name, { body }] of Object.entries({ made, rotated })) {
      secrets.set(`${name} address`, body.ping_url.slice(body.ping_url.lastIndexOf("/") + 1));
      secrets.set(`${name} uuid`, body.uuid);
    }
    secrets.set("short token", source.body.short_token);
    const paths = [...secrets.values(), `${source.body.short_token}/job`];
    for (const path of paths)
      for (const word of ["", "/fail", "/start", "/log", "/999", "/a/b/c", "?rid=x", "/0"])
        for (const method of ["GET", "POST", "PUT", "HEAD"])
          await fetch(`${open.url}/ping/${path}${word}`, { method }).then((got) => got.text());
    await open.clock.turn(400_000);
    for (const path of ["", `/${made.body.id}`, `/${made.body.id}/runs`])
      seen.push(JSON.stringify((await open.api("GET", at + path)).body));
    for (const path of ["/metrics", "/readyz", "/v1/alerts", "/v1/projects/p/config", "/v1/audit"])
      seen.push(JSON.stringify((await open.api("GET", path)).body));
    const files = readdirSync(open.data).filter((file) => statSync(join(open.data, file)).isFile());
    for (const file of files) seen.push(readFileSync(join(open.data, file), "latin1"));
    assert.ok((await open.api("GET", "/v1/alerts")).body.alerts.length > 0, "it was in use");
  } finally {
    await open.stop();
  }
  const all = [...seen, ...logged].join("\n");
  assert.deepEqual(
    [...secrets].filter(([, secret]) => all.includes(secret)).map(([name]) => name),
    [],
  );
});

test("a calendar's address is in no log, metric, read or file, whatever is called", async () => {
  const open = await testBox({}, handClock(), log);
  const seen: string[] = [];
  const secrets: string[] = [];
  try {
    const at = "/v1/accounts/me/calendars";
    for (const _ of ["made", "replaced"]) {
      const { body } = await open.api("POST", at, {});
      secrets.push(/\/(\w{22})\.ics$/.exec(body.calendar_url)?.[1] ?? "");
    }
    assert.equal(new Set(secrets).size, 2);
    const read: number[] = [];
    for (const secret of secrets)
      for (const end of [".ics", "", ".ics/", "x.ics", ".ics?x=1", "%zz"])
        for (const method of ["GET", "POST", "HEAD", "PUT"]) {
          const got = await fetch(`${open.url}/calendar/${secret}${end}`, { method });
          read.push(got.status);
          seen.push(await got.text());
        }
    assert.ok(read.includes(200) && read.includes(404), "it was in use");
    for (const path of [at, "/metrics", "/readyz", "/v1/audit", "/v1/changes?since=0"])
      seen.push(JSON.stringify((await open.api("GET", path)).body));
    const files = readdirSync(open.data).filter((file) => statSync(join(open.data, file)).isFile());
    for (const file of files) seen.push(readFileSync(join(open.data, file), "latin1"));
  } finally {
    await open.stop();
  }
  const all = [...seen, ...logged].join("\n");
  assert.deepEqual(
    secrets.filter((secret) => all.includes(secret)),
    [],
  );
});

test("what a message is answered by is in no log, metric, read or file, whatever is done with it", async (t) => {
  const { box: open, fire, linked, handleOf } = await pagedBox(t, {}, log);
  const capabilities: string[] = [];
  const seen: string[] = [];
  for (const n of [1, 2]) {
    const id = await fire(n);
    await pass(open, 6);
    capabilities.push(linked());
    const path = `${open.url}/ack/${linked()}`;
    for (const end of ["", "/", "x", "?x=1", "%zz"])
      for (const method of ["GET", "POST", "PUT", "HEAD"]) {
        const body = method === "POST" ? { body: `verb=${n === 1 ? "acknowledge" : "x"}` } : {};
        await fetch(path + end, { method, ...body }).then((got) => got.text());
      }
    for (const at of ["", "/timeline"])
      seen.push(JSON.stringify((await open.api("GET", `/v1/alerts/${id}${at}`)).body));
    assert.ok(!seen.join().includes(handleOf(id)), "its handle");
  }
  assert.equal((await open.api("GET", "/v1/alerts/1")).body.state, "acknowledged", "it was in use");
  seen.push(JSON.stringify((await open.api("GET", "/metrics")).body));
  const files = readdirSync(open.data).filter((file) => statSync(join(open.data, file)).isFile());
  for (const file of files) seen.push(readFileSync(join(open.data, file), "latin1"));
  const all = [...seen, ...logged].join("\n");
  assert.ok(new Set(capabilities).size === 2 && !capabilities.includes(""));
  assert.deepEqual(
    capabilities.filter((capability) => all.includes(capability)),
    [],
  );
});
