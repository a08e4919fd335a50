import assert from "node:assert/strict";
import { after, afterEach, beforeEach, test } from "node:test";
import { ntfyAnswerActions, readNtfyAnswers } from "../../../../src/out/services/ntfy/answers.ts";
import { boxEgress } from "../../../support/egress.ts";
import { answer, type Behaviour, type Receiver, startReceiver } from "../../../support/receiver.ts";

const egress = boxEgress();
after(() => egress.close());

let receiver: Receiver;
/** What was published to the topic, in order. */
let topic: { id: string; time: number; event: string; message: string }[];

/** An ntfy server with one topic: anybody writes, and it is read from a message on. */
const server: Behaviour = (response, _socket, { method, path, body, headers }) => {
  const url = new URL(path, "http://x");
  if (method === "POST" && path === "/ops-ack") {
    assert.equal(headers["priority"], "min");
    topic.push({ id: `id${topic.length}`, time: 1, event: "message", message: body });
    return void response.writeHead(200).end("{}");
  }
  if (method !== "GET" || url.pathname !== "/ops-ack/json" || url.searchParams.get("poll") !== "1")
    return void response.writeHead(404).end();
  const since = url.searchParams.get("since");
  const from = since === "1h" ? 0 : topic.findIndex(({ id }) => id === since) + 1;
  const lines = topic.slice(from).map((message) => `${JSON.stringify(message)}\n`);
  response.writeHead(200).end(lines.join(""));
};

beforeEach(async () => {
  topic = [];
  receiver = await startReceiver();
  receiver.always(server);
});
afterEach(() => receiver.close());

const answers = () => ({ url: `${receiver.url}/`, topic: "ops-ack" });
const look = (last: string) => readNtfyAnswers({ egress, now: 0 }, answers(), last);

test("what a phone's button posts is read once, in order, and the next look goes on behind it", async () => {
  assert.deepEqual(await look(""), { answers: [], last: "" });
  const [ack, resolve] = ntfyAnswerActions(answers(), "k3v9x2m7q4t8") as unknown as {
    url: string;
    method: string;
    body: string;
    headers: Record<string, string>;
  }[];
  for (const action of [ack, resolve]) if (action) await fetch(action.url, action);
  const first = await look("");
  assert.deepEqual(first, {
    answers: [
      { verb: "acknowledge", handle: "k3v9x2m7q4t8" },
      { verb: "resolve", handle: "k3v9x2m7q4t8" },
    ],
    last: "id1",
  });
  assert.deepEqual(await look("id1"), { answers: [], last: "id1" });
});

test("strangers' words are passed over, and a server that can't be asked loses none", async () => {
  const strange = ["ack", "ack a b", "ack ../x", "drop all", `ack ${"x".repeat(33)}`, "", "ack K9"];
  for (const [i, message] of strange.entries())
    topic.push({ id: `s${i}`, time: 1, event: "message", message });
  topic.push({ id: "k", time: 1, event: "keepalive", message: "ack x" });
  assert.deepEqual(await look(""), {
    answers: [{ verb: "acknowledge", handle: "K9" }],
    last: "s6",
  });
  const odd = '{"id":5,"event":"message","message":"ack a"}\nnull\n[]\n{"id":"cut","event":"mess';
  receiver.once(answer(200, odd), answer(503), answer(429));
  assert.deepEqual(await look("s6"), { answers: [], last: "s6" });
  assert.deepEqual([await look("s6"), await look("s6")], [null, null]);
});

test("a token, where the server asks for one, reads and is on no button", async () => {
  await readNtfyAnswers({ egress, now: 0 }, { ...answers(), access_token: "tk_canary" }, "");
  assert.equal(receiver.received[0]?.headers["authorization"], "Bearer tk_canary");
  const actions = ntfyAnswerActions({ ...answers(), access_token: "tk_canary" }, "h");
  assert.ok(!JSON.stringify(actions).includes("canary"));
});
