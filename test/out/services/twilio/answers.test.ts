import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import {
  readSmsReply,
  readTwilioKey,
  readTwilioStatus,
  twilioSignatureOk,
} from "../../../../src/out/services/twilio/answers.ts";

const URL_CALLED = "https://box.example.com/hooks/twilio/voice?alert=17";
const form = (fields: Record<string, string>) => new URLSearchParams(fields);
const pressed = form({
  To: "+15550002222",
  Digits: "4",
  CallSid: "CA1",
  From: "+15550001111",
});
const signed = "iScSVypbsvEq3syvNnX+4ZjNtSg=";

test("a signature is taken that was made over this address and this form with this token, and no other", () => {
  assert.equal(twilioSignatureOk("12345", [URL_CALLED], pressed, signed), true);
  const port = URL_CALLED.replace(".com/", ".com:443/");
  assert.equal(twilioSignatureOk("12345", [port], pressed, signed), true);
  assert.equal(
    twilioSignatureOk("12345", ["https://other.example/", URL_CALLED], pressed, signed),
    true,
  );
  const others: [string, string[], URLSearchParams, string][] = [
    ["12346", [URL_CALLED], pressed, signed],
    ["12345", [URL_CALLED.replace("17", "18")], pressed, signed],
    ["12345", [URL_CALLED.replace(".com/", ".com:8443/")], pressed, signed],
    ["12345", [URL_CALLED.replace("https", "http")], pressed, signed],
    ["12345", [], pressed, signed],
    ["12345", ["nonsense"], pressed, signed],
    ["12345", [URL_CALLED], form({ ...Object.fromEntries(pressed), Digits: "6" }), signed],
    ["12345", [URL_CALLED], form({ ...Object.fromEntries(pressed), more: "" }), signed],
    ["12345", [URL_CALLED], pressed, ""],
    ["12345", [URL_CALLED], pressed, `${signed}=`],
    ["12345", [URL_CALLED], pressed, "é".repeat(14)],
    ["12345", [URL_CALLED], pressed, signed.toLowerCase()],
  ];
  for (const args of others) assert.equal(twilioSignatureOk(...args), false);
});

test("Twilio may have signed the address with its port although it was given without", () => {
  const url = "https://box.example.com:443/x";
  const header = createHmac("sha1", "t").update(`${url}a1a2b3`).digest("base64");
  const params = new URLSearchParams("b=3&a=2&a=1&a=2");
  assert.equal(twilioSignatureOk("t", ["https://box.example.com/x"], params, header), true);
});

test("statuses of texts and calls, as far as they say something", () => {
  const sid = "CA00000000000000000000000000000001";
  const told = new URLSearchParams(
    `AccountSid=AC0&CallDuration=12&CallSid=${sid}&CallStatus=completed&SequenceNumber=3&To=%2B15550002222`,
  );
  assert.deepEqual(readTwilioStatus(told), { ref: sid, outcome: "delivered", detail: "completed" });
  const text = (MessageStatus: string, more = {}) =>
    readTwilioStatus(form({ MessageSid: sid.replace("CA", "SM"), MessageStatus, ...more }));
  assert.equal(text("queued")?.outcome, "accepted");
  assert.equal(text("delivered")?.outcome, "delivered");
  assert.equal(text("undelivered", { ErrorCode: "30003" })?.detail, "undelivered: code 30003");
  assert.equal(text("undelivered", { ErrorCode: "<b>" })?.detail, "undelivered");
  for (const status of ["busy", "no-answer", "canceled", "failed"])
    assert.equal(readTwilioStatus(form({ CallSid: sid, CallStatus: status }))?.outcome, "failed");
  assert.equal(text("constructor"), null);
  assert.equal(readTwilioStatus(form({ CallSid: "x", CallStatus: "busy" })), null);
  assert.equal(readTwilioStatus(form({})), null);
});

test("keys and answers by text", () => {
  assert.equal(readTwilioKey(pressed), "acknowledge");
  const keys = ["6", "9", "5", "44", ""].map((Digits) => readTwilioKey(form({ Digits })));
  assert.deepEqual(keys, ["resolve", "repeat", null, null, null]);
  const from = "+15550002222";
  const reply = (Body: string, From = from) => readSmsReply(form({ Body, From }));
  const rows: [string, string, string][] = [
    ["ack k3v9x2m7q4t8", "acknowledge", "k3v9x2m7q4t8"],
    [" ACK #17. ", "acknowledge", "17"],
    ["Ack", "acknowledge", ""],
    ["resolve 17", "resolve", "17"],
    ["close", "resolve", ""],
    ["17a", "acknowledge", "17"],
    ["17 C", "resolve", "17"],
  ];
  for (const [body, verb, which] of rows) assert.deepEqual(reply(body), { from, verb, which });
  for (const body of [
    "",
    "stop",
    "acknowledged",
    "ack it now please",
    "17",
    "a",
    "ack ".repeat(99),
  ])
    assert.equal(reply(body), null, body);
  assert.equal(reply("ack", "whoever"), null);
});
