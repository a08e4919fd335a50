import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "parse5";
import { type TestBox, testBox } from "../../support/box.ts";
import { box as run } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { crawl } from "../../support/crawl.ts";
import { furnish, type House } from "../../support/house.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";

let box: TestBox;
let house: House;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
  box = await testBox();
  house = await furnish(box, receiver);
  await forget(house);
});
after(async () => {
  await box.stop();
  await receiver.close();
});

/** Dan stands in for Bob, takes an alert, and is removed. */
async function forget({ alerts }: House): Promise<void> {
  const dan = box.person("admin", "dan@example.org");
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await box.api(method, path, body, dan.key);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  };
  const now = Math.floor(box.clock.now() / 1000);
  const stretch = { account_id: dan.accountId, starts_at: now, ends_at: now + 60 };
  await ask("POST", "/v1/projects/payments/oncall/schedules/primary/overrides", stretch);
  await ask("POST", `/v1/alerts/${alerts.error}/ack`, {});
  await ask("POST", `/v1/alerts/${alerts.critical}/notes`, { text: "It is the bank." });
  await box.clock.turn(120_000);
  const gone = await box.api("DELETE", `/v1/accounts/${dan.accountId}`);
  assert.equal(gone.status, 200, JSON.stringify(gone.body));
}

interface Piece {
  nodeName: string;
  value?: string;
  attrs?: { name: string; value: string }[];
  childNodes?: Piece[];
}

const ID = /(?<![0-9a-f])([0-9a-f]{16}|[0-9a-f]{64})(?![0-9a-f])/;

/** What only somebody with a key at hand can follow. */
const FOR_PROGRAMS = /with an API key|[Tt]his key|key of an owner/;

/** A page's own address as it is printed, and a body as it was sent: the id is the thing itself. */
const isItself = (at: string, piece: string): boolean =>
  piece.startsWith(box.url) || (at.includes("/deliveries/") && piece.startsWith("{"));

/** What a person reads on a page: its text, and what stands in titles. */
function visible(text: string): string[] {
  const found: string[] = [];
  const walk = (piece: Piece): void => {
    if (["script", "style", "template"].includes(piece.nodeName)) return;
    if (piece.nodeName === "#text") found.push(piece.value ?? "");
    for (const { name, value } of piece.attrs ?? [])
      if (["title", "aria-label", "alt", "placeholder"].includes(name)) found.push(value);
    for (const child of piece.childNodes ?? []) walk(child);
  };
  walk(parse(text) as Piece);
  return found;
}

test("pages name people and things, not ids", async () => {
  for (const person of [box.owner, house.bob]) {
    const tab = signedIn(box, person);
    const { pages } = await crawl((path) => tab.get(path), "/alerts");
    const [ids, forPrograms] = [[] as string[], [] as string[]];
    for (const [at, { text, headers }] of pages) {
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      if (person !== box.owner && FOR_PROGRAMS.test(text)) forPrograms.push(at);
      for (const piece of visible(text))
        if (ID.test(piece) && !isItself(at, piece))
          ids.push(`${at}: ${piece.trim().slice(0, 160)}`);
    }
    assert.deepEqual([...new Set(ids)], []);
    assert.deepEqual(forPrograms, []);
  }
});

test("commands name people and things, not ids", async () => {
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const { critical, error, warn } = house.alerts;
  const commands = [["overview"], ["audit", "--limit", "500"], ["oncall"], ["why", warn]];
  for (const words of [...commands, ["why", error], ["why", critical, "--person", "bob"]]) {
    const { code, out, err } = await run(words, { env });
    assert.equal(code, 0, err);
    const ids = out.split("\n").filter((line) => ID.test(line.replace(/\(key [0-9a-f]{16} /, "")));
    assert.deepEqual(ids, [], words.join(" "));
  }
  const { out } = await run(["audit", "--limit", "500"], { env });
  assert.match(out, /participants.*ann@example\.org|layers.*ann@example\.org/);
  assert.match(out, /dan@example\.org {2}createOverride/);
});

test("a calendar has no ids of people who were removed", async () => {
  const shown = { schedule: "payments/primary" };
  const { body } = await box.api("POST", "/v1/accounts/me/calendars", shown);
  const text = await (await fetch(box.url + new URL(body.calendar_url, box.url).pathname)).text();
  const titles = text.split("\r\n").filter((line) => line.startsWith("SUMMARY"));
  assert.ok(titles.some((line) => line.includes("somebody who was removed")));
  assert.deepEqual(
    titles.filter((line) => ID.test(line)),
    [],
  );
});
