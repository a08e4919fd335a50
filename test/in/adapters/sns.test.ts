import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, test } from "node:test";
import { type Ask, type AskResult, createAsk } from "../../../src/ground/kit/ask.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import type { Egress } from "../../../src/ground/kit/egress.ts";
import { type InRequest, UnreadableBody } from "../../../src/in/adapters/adapter.ts";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { handClock } from "../../support/clock.ts";
import { boxEgress } from "../../support/egress.ts";
import fc from "../../support/property.ts";
import { answer, type Receiver, startReceiver } from "../../support/receiver.ts";
import { decodesCleanly, sent } from "./clean.ts";
import { connected } from "./sending.ts";
import {
  alarm,
  CERTIFICATE,
  control,
  type Fields,
  HOST,
  notification,
  signed,
  signingPem,
  TOPIC,
} from "./sns-messages.ts";

const sns = findAdapter("sns");
assert.ok(sns !== null);
const certificate = signingPem.slice(0, signingPem.indexOf("-----BEGIN PRIVATE"));
const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

function request(fields: Fields, more: Partial<InRequest> = {}): InRequest {
  return sent(JSON.stringify(fields), more);
}

/** Why the message is refused, null where it isn't; and the hosts that were called. */
async function judged(of: InRequest, told: AskResult = { text: certificate }) {
  const asked: string[] = [];
  const ask: Ask = async (url) => {
    asked.push(url);
    return told;
  };
  try {
    await sns?.believe?.(of, ask);
    return { why: null, asked };
  } catch (error) {
    assert.ok(error instanceof UnreadableBody, String(error));
    return { why: error.refusal.why, asked };
  }
}

describe("what a topic says of itself", () => {
  test("an SNS message with a signature of version 1 or 2 is accepted, in every type", async () => {
    for (const version of ["1", "2"])
      for (const fields of [
        notification("disk full"),
        notification("disk full", { Subject: "Disk" }),
        notification("disk full", { Subject: null }),
        notification("of\ntwo lines"),
        control("SubscriptionConfirmation"),
        control("UnsubscribeConfirmation"),
      ]) {
        const message = signed({ ...fields, SignatureVersion: version });
        assert.deepEqual(await judged(request(message)), { why: null, asked: [CERTIFICATE] });
      }
  });

  test("an SNS message is refused with a changed signed field, or another key", async () => {
    const good = signed(control("SubscriptionConfirmation"));
    const url = `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=another`;
    const bent: Fields[] = [
      { ...good, Message: "another" },
      { ...good, MessageId: "another" },
      { ...good, SubscribeURL: url },
      { ...good, Timestamp: "2026-01-05T09:00:01.134Z" },
      { ...good, Token: "another" },
      { ...good, TopicArn: "arn:aws:sns:eu-west-1:999999999999:pages" },
      { ...good, Type: "UnsubscribeConfirmation" },
      { ...good, SignatureVersion: "1" },
      { ...good, SignatureVersion: "3" },
      { ...good, Signature: "" },
      { ...good, Signature: null },
      signed(control("SubscriptionConfirmation"), other),
    ];
    for (const fields of bent)
      assert.equal((await judged(request(fields))).why, "bad_request", JSON.stringify(fields));
    assert.equal((await judged(request(good), { text: "no certificate" })).why, "bad_request");
  });

  test("only Amazon's own host is asked for a certificate", async () => {
    const strange = [
      "http://sns.eu-west-1.amazonaws.com/a.pem",
      "https://sns.eu-west-1.amazonaws.com.example.com/a.pem",
      "https://sns.eu-west-1.amazonaws.com@example.com/a.pem",
      "https://user@sns.eu-west-1.amazonaws.com/a.pem",
      "https://sns.eu-west-1.amazonaws.com:8443/a.pem",
      "https://example.com/sns.eu-west-1.amazonaws.com/a.pem",
      "https://sns.eu.west.amazonaws.com/a.pem",
      "https://bucket.s3.amazonaws.com/a.pem",
      "https://sns.eu-west-1.amazonaws.com/a.crt",
      "https://sns.eu-west-1.amazonaws.com/a.crt?a.pem",
      "a.pem",
      "",
    ];
    for (const url of strange) {
      const said = await judged(request(signed(notification("m", { SigningCertURL: url }))));
      assert.deepEqual(said, { why: "bad_request", asked: [] }, url);
    }
    const china = "https://sns.cn-north-1.amazonaws.com.cn/a.pem";
    const said = await judged(request(signed(notification("m", { SigningCertURL: china }))));
    assert.deepEqual(said, { why: null, asked: [china] });
  });

  test("an old SNS message is refused; one whose certificate can't be fetched is retried", async () => {
    const old = signed(notification("m", { Timestamp: "2026-01-05T07:59:59.000Z" }));
    assert.deepEqual(await judged(request(old)), { why: "bad_request", asked: [] });
    const fault = await judged(request(signed(notification("m"))), { fault: "timeout" });
    assert.equal(fault.why, "unavailable");
  });

  test("only subscriptions of listed topics are confirmed, at their own address", async () => {
    const message = signed(control("SubscriptionConfirmation"));
    const options = { sns_auto_confirm: [TOPIC] };
    const yes = await judged(request(message, { options }));
    assert.deepEqual(yes, {
      why: null,
      asked: [CERTIFICATE, new URL(message["SubscribeURL"] ?? "").href],
    });
    const listed = { sns_auto_confirm: [`${TOPIC}2`] };
    assert.deepEqual((await judged(request(message, { options: listed }))).asked, [CERTIFICATE]);
    for (const url of [
      `${HOST}/?Action=Publish&TopicArn=${TOPIC}`,
      `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}2`,
      `https://example.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}`,
    ]) {
      const strange = signed(control("SubscriptionConfirmation", { SubscribeURL: url }));
      const said = await judged(request(strange, { options }));
      assert.deepEqual(said, { why: "bad_request", asked: [CERTIFICATE] }, url);
    }
  });

  test("without verification a topic must be listed, and no other host is called", async () => {
    const fields = control("SubscriptionConfirmation");
    const options = { sns_verify: false, sns_auto_confirm: [TOPIC] };
    assert.deepEqual(await judged(request(fields, { options })), { why: null, asked: [] });
    const open = { sns_verify: false };
    assert.equal((await judged(request(fields, { options: open }))).why, "bad_request");
  });

  test("any bytes are accepted or refused as an SNS message, and no other host is called", async () => {
    const good = signed(control("SubscriptionConfirmation", { Subject: "s" }));
    const field = fc.constantFrom(...Object.keys(good));
    const host = fc.constantFrom(HOST, `${HOST}.example.org`, "https://example.org", "http://a@b");
    const url = fc.tuple(host, fc.string()).map((parts) => parts.join("/"));
    const value = fc.oneof(fc.string(), url, fc.jsonValue());
    const options = { sns_auto_confirm: [TOPIC] };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(field, value), { minLength: 1, maxLength: 3 }),
        async (changes) => {
          const fields = { ...good, ...Object.fromEntries(changes) } as Fields;
          const { asked } = await judged(request(fields, { options }));
          for (const url of asked) assert.equal(new URL(url).origin, HOST);
          assert.equal((await judged(sent(JSON.stringify(changes)))).asked.length, 0);
        },
      ),
    );
  });
});

describe("what a topic hands on", () => {
  const seen = (text: string, more: Fields = {}) => {
    const decoded = decodesCleanly(sns, request(notification(text, more)));
    return decoded?.events.map(({ message, level, named }) => [
      message,
      level,
      named?.action ?? null,
      named?.dedupKey ?? null,
    ]);
  };

  test("alarms fire and end by their ARN, else by account, region and name", () => {
    const by = "123456789012:EU (Ireland):cpu";
    assert.deepEqual(seen(alarm("ALARM")), [["cpu: web-1 is busy", 400, "fire", by]]);
    assert.deepEqual(seen(alarm("OK")), [["cpu: web-1 is busy", 200, "resolve", by]]);
    assert.deepEqual(
      seen(alarm("INSUFFICIENT_DATA", { AlarmArn: "arn:a", AlarmDescription: null })),
      [["no data: cpu", 300, "fire", "arn:a"]],
    );
    const [event] = decodesCleanly(sns, request(notification(alarm("ALARM"))))?.events ?? [];
    assert.deepEqual(
      [event?.keys?.["dimension.Id"], event?.keys?.["MetricName"], event?.keys?.["topic"]],
      ["i-1", "CPU", TOPIC],
    );
    assert.deepEqual(
      [event?.extra?.details, event?.extra?.occurredAt],
      ["Threshold Crossed", 1_767_603_585],
    );
  });

  test("an SNS message of other JSON is guessed, and a text is the message", () => {
    assert.deepEqual(seen('{"title":"Deploy failed","severity":"critical","id":"7"}'), [
      ["Deploy failed", 500, "fire", "7"],
    ]);
    assert.deepEqual(seen('{"detail-type":"EC2 stopped","source":"aws.ec2","detail":{"a":1}}'), [
      ["EC2 stopped", 400, "fire", null],
    ]);
    assert.deepEqual(seen("Disk full\nof 2 TB"), [["Disk full", 400, null, null]]);
    assert.deepEqual(seen("of 2 TB", { Subject: "Disk full" }), [["Disk full", 400, null, null]]);
    assert.deepEqual(seen('{"half":'), [['{"half":', 400, null, null]]);
  });

  test("raw delivery of SNS is only the message", () => {
    const header = (name: string) =>
      ({ "x-amz-sns-rawdelivery": "true", "x-amz-sns-topic-arn": TOPIC })[name];
    const [event] = decodesCleanly(sns, sent(alarm("ALARM"), { header }))?.events ?? [];
    assert.deepEqual([event?.message, event?.keys?.["topic"]], ["cpu: web-1 is busy", TOPIC]);
  });

  test("the end of an SNS subscription opens an alert", () => {
    const decoded = decodesCleanly(sns, request(control("UnsubscribeConfirmation")));
    assert.match(decoded?.events[0]?.message ?? "", /sends here no longer/);
    assert.equal(decoded?.events[0]?.level, 400);
  });
});

/** An egress at which Amazon's host name leads to a receiver here. */
function leadsTo(receiver: Receiver) {
  const real = boxEgress();
  const share = (): Egress & { close(): Promise<void> } => ({
    dial: (to) => real.dial(to),
    talk: (to) => real.talk(to),
    close: () => real.close(),
    send: (out) => real.send({ ...out, url: out.url.replace(HOST, receiver.url) }),
  });
  return { ...share(), origins: () => 0, share: () => leadsTo(receiver) };
}

test("in a box an SNS topic is confirmed, an alarm fires and ends, and the certificate is cached for a day", async (t) => {
  const amazon = await startReceiver();
  t.after(() => amazon.close());
  amazon.always((response, _socket, { path }) => {
    const isCertificate = path === new URL(CERTIFICATE).pathname;
    response.writeHead(200).end(isCertificate ? certificate : "<ConfirmSubscriptionResponse/>");
  });
  const to = await connected("sns", { egress: () => leadsTo(amazon) });
  t.after(() => to.box.stop());
  const post = (fields: Fields) => to.send(`/${to.token}`, signed(fields));

  assert.equal((await post(control("SubscriptionConfirmation"))).status, 200);
  const [asked] = await to.alerts();
  assert.match(asked.last_message, /open the link to say yes/);
  assert.equal(asked.links[0].href, new URL(control("")["SubscribeURL"] ?? "").href);
  assert.deepEqual(
    amazon.received.map(({ path }) => path),
    [new URL(CERTIFICATE).pathname],
  );

  const change = { retain_logs: false, options: { sns_auto_confirm: [TOPIC] } };
  assert.equal((await to.box.api("PUT", "/v1/projects/p/sources/it", change)).status, 200);
  await post(control("SubscriptionConfirmation", { MessageId: "again" }));
  assert.match(amazon.received[1]?.path ?? "", /^\/\?Action=ConfirmSubscription/);
  assert.equal((await to.alerts())[0].state, "resolved", "nobody is to open it any more");

  const fired = await post(notification(alarm("ALARM"), { MessageId: "1" }));
  assert.deepEqual([fired.status, fired.body], [200, { accepted: 1 }]);
  await post(notification(alarm("ALARM"), { MessageId: "1" }));
  assert.deepEqual([(await to.alerts())[0].state, (await to.alerts())[0].count], ["open", 1]);
  await post(notification(alarm("OK"), { MessageId: "2" }));
  assert.equal((await to.alerts())[0].state, "resolved");
  assert.equal(amazon.received.length, 2, "the certificate was asked for once");

  const forged = await to.send(`/${to.token}`, signed(notification("m"), other));
  assert.equal(forged.status, 400);
  assert.equal((await to.send("/", signed(notification("m")))).status, 401);
  const { body: facts } = await to.box.api("GET", "/v1/projects/p/sources/it/facts");
  assert.match(facts.last_refused.message, /signature/);
});

test("a box without egress answers SNS that it should retry, and says why", async (t) => {
  const amazon = await startReceiver();
  t.after(() => amazon.close());
  amazon.always(answer(403));
  const to = await connected("sns", { egress: () => leadsTo(amazon) });
  t.after(() => to.box.stop());
  const refused = await to.send(`/${to.token}`, signed(notification("m")));
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.match(refused.body.error.message, /certificate .* status 403/);
  amazon.always(answer(200, certificate));
  assert.equal((await to.send(`/${to.token}`, signed(notification("m")))).status, 200);
});

test("an answer is cached for its time, an error isn't, and concurrent calls share one request", async (t) => {
  const there = await startReceiver();
  const egress = boxEgress();
  t.after(() => Promise.all([there.close(), egress.close()]));
  const clock = handClock();
  const ask = createAsk({ egress, clock });
  there.once(answer(500), answer(200, "one"), answer(200, "two"));
  assert.deepEqual(await ask(there.url, { keepSeconds: 60 }), { fault: "status 500" });
  const both = [ask(there.url, { keepSeconds: 60 }), ask(there.url, { keepSeconds: 60 })];
  assert.deepEqual(await Promise.all(both), [{ text: "one" }, { text: "one" }]);
  await clock.turn(59_000);
  assert.deepEqual(await ask(there.url, { keepSeconds: 60 }), { text: "one" });
  await clock.turn(2_000);
  assert.deepEqual(await ask(there.url, { keepSeconds: 60 }), { text: "two" });
  there.once(answer(200, "x".repeat(20_000)));
  assert.deepEqual(await ask(there.url), { fault: "too long" });
  assert.ok("fault" in (await createAsk({ egress, clock: systemClock })("http://127.0.0.1:1/")));
});

test("an alarm from EventBridge fires and ends like a direct one", () => {
  const arn = "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:cpu";
  const changed = (value: string) => ({
    id: `event-${value}`,
    source: "aws.cloudwatch",
    account: "123456789012",
    "detail-type": "CloudWatch Alarm State Change",
    region: "eu-west-1",
    resources: [arn],
    detail: {
      alarmName: "cpu",
      configuration: { description: "web-1 is busy" },
      state: { value, reason: "Threshold Crossed", timestamp: "2026-01-05T08:59:45.093+0000" },
    },
  });
  const seen = (value: string) =>
    sns
      ?.decode(request(notification(JSON.stringify(changed(value)))))
      .events.map(({ message, level, named }) => [message, level, named?.action, named?.dedupKey]);
  assert.deepEqual(seen("ALARM"), [["cpu: web-1 is busy", 400, "fire", arn]]);
  assert.deepEqual(seen("OK"), [["cpu: web-1 is busy", 200, "resolve", arn]]);
});
