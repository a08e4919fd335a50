import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Miner } from "../../../src/in/ingest/template/miner.ts";
import { whyOf } from "../../../src/in/ingest/template/why.ts";
import { testBox } from "../../support/box.ts";
import fc, { anyCharacter } from "../../support/property.ts";

const lines = readFileSync(new URL("../../../bench/demo-lines.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
const shown = (message: string) => whyOf(message).parts.map(({ text, why }) => `${text}: ${why}`);

describe("why a message has its template", () => {
  test("is said of each part that varies, by its kind or its place", () => {
    assert.deepEqual(shown("order 42 of user alice failed at auth.example.org:443 after 12ms"), [
      "42: a number, or what is written like one",
      'alice: a name, by its form or behind "user"',
      "auth.example.org:443: a host",
      "12ms: a number with its unit, or an id that begins with a digit",
    ]);
    assert.deepEqual(
      shown('mail from ann@example.org for deadbeef01: cannot open "x y" in /tmp/a'),
      [
        "ann@example.org: an address",
        "deadbeef01: an id",
        '"x y": a quoted text',
        "/tmp/a: a path or an address",
      ],
    );
    assert.deepEqual(shown("2026-11-28T10:00:00Z web1 nginx[33]: stopped\n\tat foo\n\tat bar"), [
      "2026-11-28T10:00:00Z web1 nginx[33]:: where the message begins: its time, host, program, level",
    ]);
    assert.deepEqual(shown('level=error msg="no route" peer=10.0.0.1'), [
      'error: the value of "level"',
      '10.0.0.1: the value of "peer"',
    ]);
    assert.deepEqual(shown('peer=10.0.0.1 level=error msg="no route"'), [
      'null: the value of "level"',
      'null: the value of "peer"',
    ]);
    assert.deepEqual(shown("nothing here varies"), []);
  });

  test("its parts in their places are the message again, and its id is the miner's", () => {
    const miner = new Miner({ limit: 10_000, rows: [] });
    let whole = 0;
    for (const line of lines) {
      const { template, parts, ids } = whyOf(line);
      assert.equal(template.split("<*>").length - 1, parts.length, line);
      assert.ok(ids.includes(miner.mine(line).id), line);
      const texts = parts.map(({ text }) => text);
      if (texts.includes(null)) continue;
      whole++;
      const again = template.replaceAll("<*>", () => texts.shift() ?? "");
      assert.equal(again.replace(/\s+/g, " "), line.replace(/\s+/g, " "));
    }
    assert.ok(whole > lines.length / 2, `${whole} of ${lines.length} were told by their parts`);
  });

  test("is said of any text, and soon", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
        const { template, parts } = whyOf(text);
        assert.equal(typeof template, "string");
        for (const { why } of parts) assert.ok(why.length > 0);
      }),
    );
    for (const unit of [" ", "a ", "1 ", "a=1 ", '"', "\t", " \n", "/a", '{"a":1}']) {
      const before = process.cpuUsage();
      whyOf(unit.repeat(65_536 / unit.length));
      const { user } = process.cpuUsage(before);
      assert.ok(user < 1_000_000, `${JSON.stringify(unit)} took ${user} µs`);
    }
  });

  test("names the project's template that it joins, and stores nothing", async () => {
    const box = await testBox();
    try {
      const token = await box.project("p");
      for (const word of ["red", "blue", "green", "pink", "grey", "teal"])
        for (let n = 0; n < 20; n++) await box.ingest(token, { message: `lamp ${word} went out` });
      const { body: known } = await box.api("GET", "/v1/projects/p/templates");
      const ask = async (message: string) =>
        (await box.api("POST", "/v1/projects/p/templates/why", { message })).body;
      const { joins, template } = await ask("lamp teal went out");
      assert.equal(joins.template_id, known.templates[0].template_id);
      assert.equal(joins.template, known.templates[0].template);
      assert.equal(template, "lamp teal went out");
      assert.equal((await ask("nobody ever said this")).joins, null);
      assert.deepEqual((await box.api("GET", "/v1/projects/p/templates")).body, known);
    } finally {
      await box.stop();
    }
  });
});
