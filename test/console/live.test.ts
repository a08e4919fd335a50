import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { signedIn } from "../support/console.ts";

/** Opens the stream of a session; what it says, piece by piece, until it ends. */
async function stream(url: string, cookie: string) {
  const answer = await fetch(`${url}/live`, {
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
