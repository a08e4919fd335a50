import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { signedIn } from "../../support/console.ts";
import { settle } from "../../support/until.ts";

test("AC-V2: levels are told apart by their shapes and states by their words, without any colour", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "r", identifier_keys: ["n"] });
  for (const level of [100, 200, 300, 400, 500])
    await box.ingest(token, { message: `at ${level}`, level, keys: { n: String(level) } });
  await settle(box);
  const tab = signedIn(box);
  const { text } = await tab.get("/alerts");
  const glyphs = [
    ...text.matchAll(/class="badge badge-(\w+)"><svg class="glyph"[^>]*>([\s\S]*?)<\/svg>(\w+)/g),
  ].map(([, id = "", inner = "", word = ""]) => ({
    id,
    word,
    shape: inner.replace(/(?:fill|stroke)="(?!none)[^"]*"/g, ""),
  }));
  assert.equal(glyphs.length, 5);
  for (const by of ["id", "word", "shape"] as const)
    assert.equal(new Set(glyphs.map((one) => one[by])).size, 5, `two levels have one ${by}`);

  const until = Math.floor(box.clock.now() / 1000) + 3600;
  await box.api("POST", "/v1/alerts/2/ack");
  await box.api("POST", "/v1/alerts/3/resolve");
  const silence = { ids: ["4"], verb: "silence", until, reason: "deploy" };
  await box.api("POST", "/v1/alerts/bulk", silence);
  const words = await Promise.all(
    ["1", "2", "3", "4"].map(async (id) => {
      const page = (await tab.get(`/a/${id}`)).text;
      const told = page.match(/<section id="(?:head|now)"[\s\S]*?<\/section>/g)?.join(" ") ?? "";
      return told.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    }),
  );
  const meant = [/Open/, / has it/, /Resolved/, /Quiet/];
  for (const [at, said] of words.entries()) {
    assert.match(said, meant[at] as RegExp, `#${at + 1} doesn't say what it is`);
    // Whoever has it has an open one; a silenced one is open, too.
    for (const other of [1, 2, 3].filter((one) => one !== at))
      assert.doesNotMatch(said, meant[other] as RegExp, `#${at + 1} says two things`);
  }
});
