import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { reachBy } from "../../support/contacts.ts";
import { answer, startReceiver } from "../../support/receiver.ts";
import { pass, until } from "../../support/until.ts";

/** Opens the stream of a session; what it says, piece by piece, until it ends. */
async function stream(url: string, cookie: string, watch = "") {
  const answer = await fetch(`${url}/live${watch}`, {
    headers: { cookie, accept: "text/event-stream" },
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  return {
    status: answer.status,
    /** Up to the piece that holds this text; what was said until the end where none does. */
    async until(text: string): Promise<string> {
      let said = "";
      while (!said.includes(text)) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) return said;
        said += piece.value;
      }
      return said;
    },
    leave: () => reader?.cancel(),
  };
}

test("an open page hears names of what changed, and nothing once its session is ended", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const live = await stream(box.url, tab.cookie);
  assert.equal(live.status, 200);
  await live.until("retry");
  const token = await box.project("shop");
  await box.clock.turn(1000);
  assert.match(await live.until("project"), /event: (change|reset)/);
  const other = signedIn(box);
  assert.equal(
    (await other.post("/me/sessions/end-others", {}, { from: "/me/sessions" })).status,
    303,
  );
  await live.until("it ends, and this is never said");
  assert.equal((await stream(box.url, tab.cookie)).status, 401);
  assert.ok(token);
});

test("what a page doesn't show wakes it not, and a break costs it nothing of what it doesn't show", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const tab = signedIn(box);
  const { next } = box.tenant.changes.after(null);
  const live = await stream(box.url, tab.cookie, "?watch=people,oncall:*");
  await live.until("reset");
  await box.project("shop");
  await box.clock.turn(1000);
  box.tenant.changes.told([{ topic: "people" }]);
  await box.clock.turn(1000);
  const said = await live.until("people");
  assert.equal(said.match(/event: /g)?.length, 1, said);
  await box.api("POST", "/v1/projects", { name: "more" });
  await box.clock.turn(15_000);
  // What it goes on with after a break.
  const { next: now } = box.tenant.changes.after(null);
  assert.match(await live.until("beat"), new RegExp(`id: ${now}\nevent: beat`));
  await live.leave();
  const poll = async (how: string) =>
    JSON.parse((await tab.get(`/live?${how}`, { accept: "application/json" })).text);
  const missed = await poll(`since=${next}&watch=people,alerts`);
  assert.deepEqual([missed.next, missed.topics.includes("people")], [now, true]);
  const waiting = poll(`since=${now}&watch=alert:*&wait=25`);
  await until(() => box.tenant.changes.listening === 1, "the poll waits");
  await box.api("POST", "/v1/projects", { name: "another" });
  await box.clock.turn(1000);
  assert.equal(box.tenant.changes.listening, 1, "it waits on");
  await box.clock.turn(24_000);
  await box.clock.turn(1000);
  assert.deepEqual((await waiting).topics.sort(), ["project:another", "projects"]);
});

test("a browser holds eight at a time, and a poll that was answered is none of them", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { cookie } = signedIn(box);
  const poll = (how = "since=x") =>
    fetch(`${box.url}/live?${how}`, { headers: { cookie, accept: "application/json" } });
  for (let n = 0; n < 10; n++) assert.equal((await poll()).status, 200);
  const all = [];
  for (let n = 0; n < 8; n++) all.push(await stream(box.url, cookie));
  assert.equal((await stream(box.url, cookie)).status, 429);
  // A ninth page asks by polls, which wait, too.
  const waiting = poll("wait=25");
  await box.project("shop");
  await box.clock.turn(1000);
  assert.equal((await waiting).status, 200);
  await all[0]?.leave();
  let status = 0;
  while (status !== 200) {
    const again = await stream(box.url, cookie);
    status = again.status;
  }
  const stranger = signedIn(box);
  assert.equal((await stream(box.url, stranger.cookie)).status, 200, "others have their own");
});

test("nobody who isn't signed in hears anything", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  assert.equal((await stream(box.url, "")).status, 401);
  const bearer = { authorization: `Bearer ${box.owner.key}`, accept: "text/event-stream" };
  assert.equal((await fetch(`${box.url}/live`, { headers: bearer })).status, 401);
});

test("how a page ended is told to who looks at its alert: that a service took it, and that it was refused", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  await reachBy(box, box.owner, receiver);
  const escalations = [{ accounts: [box.owner.accountId], schedules: [], after_minutes: 0 }];
  const rule = { name: "errors", identifier_keys: ["n"], escalations };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  for (const [at, [status, words]] of (
    [
      [204, /not seen yet/],
      [404, /\b404\b/],
    ] as const
  ).entries()) {
    receiver.always(answer(status));
    await box.ingest(token, { message: "failed", level: 500, keys: { n: `${at}` } });
    const id = at + 1;
    const tab = signedIn(box);
    const { next } = box.tenant.changes.after(null);
    assert.doesNotMatch(
      (await tab.sections(`/a/${id}`, "ladder")).text,
      words,
      "it isn't sent yet",
    );
    await pass(box, 10);
    assert.match((await tab.sections(`/a/${id}`, "ladder")).text, words);
    const { topics } = box.tenant.changes.after(next);
    assert.ok(topics.includes(`alert:${id}`), `${status}: ${topics}`);
  }
});
