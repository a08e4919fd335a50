import assert from "node:assert/strict";
import { test } from "node:test";
import { shiftPages } from "../../../src/out/paging/pages.ts";
import { pagedStory, reachBy } from "../../support/contacts.ts";
import { answer } from "../../support/receiver.ts";
import { pass, settle } from "../../support/until.ts";

test("nothing that is asked of pages reads those that are over", async (t) => {
  const s = await pagedStory(t);
  const { store } = s.box.tenant;
  const asked = new Set<string>();
  const prepare = store.db.prepare.bind(store.db);
  store.db.prepare = ((text: string) => {
    asked.add(text);
    return prepare(text);
  }) as typeof store.db.prepare;

  const phone = await reachBy(s.box, s.ann, s.receiver, "/ann");
  await reachBy(s.box, s.bob, s.receiver, "/bob");
  await s.rule([s.step(s.ann), s.step(s.bob, 5)]);
  await s.fire(1);
  await s.fire(2);
  await pass(s.box, 70, 5);
  const id = await s.fire(3);
  s.receiver.once(answer(503));
  await s.box.api("POST", `/v1/alerts/${id}/ack`);
  await settle(s.box);
  store.write((tx) => shiftPages(tx, 0));
  await s.box.api("PATCH", `/v1/accounts/me/contacts/${phone}`, { state: "off" }, s.ann.key);
  await pass(s.box, 300, 5);
  await s.box.api("DELETE", "/v1/projects/shop");

  const ofPages = [...asked].filter((text) => /\b(FROM|UPDATE|JOIN) pages\b/.test(text));
  for (const text of ofPages) {
    const values = (text.match(/\?/g) ?? []).map(() => 1);
    const named = /@(\w+)/g;
    const given = Object.fromEntries([...text.matchAll(named)].map(([, name]) => [name, 1]));
    const plan = prepare(`EXPLAIN QUERY PLAN ${text}`).all(
      ...(values.length > 0 ? values : [given]),
    ) as { detail: string }[];
    for (const { detail } of plan.filter((line) => /^SCAN (pages|p|o)\b/.test(line.detail)))
      assert.match(detail, /INDEX pages_(pending|next)$/, `${text}: ${detail}`);
  }
  assert.ok(ofPages.length > 15, `${ofPages.length} statements`);
});
