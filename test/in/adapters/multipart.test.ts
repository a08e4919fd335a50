import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { multipartFields } from "../../../src/in/adapters/mapping/multipart.ts";
import fc from "../../support/property.ts";
import { decodesCleanly, sent } from "./clean.ts";
import { connected } from "./sending.ts";

const TYPE = "multipart/form-data; boundary=X";
const part = (head: string, text: string) => `--X\r\n${head}\r\n\r\n${text}\r\n`;
const field = (name: string, text: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, text);
const fields = (body: string, type = TYPE) => multipartFields(Buffer.from(body), type);

describe("forms of parts", () => {
  test("a form's fields are read in order, and files skipped", () => {
    const file = part(
      'Content-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain',
      "inner\r\n--Y\r\n",
    );
    assert.deepEqual(fields(`${field("a", "1\r\n2")}${file}${field("b", "")}--X--\r\n`), [
      ["a", "1\r\n2"],
      ["b", ""],
    ]);
    assert.deepEqual(fields(`${field("a", "1")}--X--`, 'multipart/form-data; boundary="X"'), [
      ["a", "1"],
    ]);
    assert.deepEqual(fields("--X--"), []);
  });

  test("a form that is incomplete, has no boundary or too many parts is refused", () => {
    for (const body of ["", "--X", "--X\r\n", field("a", "1"), `${field("a", "1")}--X`, "text"])
      assert.equal(fields(body), null, JSON.stringify(body));
    assert.equal(fields(`${field("a", "1")}--X--`, "multipart/form-data"), null);
    assert.equal(fields(`${field("a", "1").repeat(201)}--X--`), null);
    assert.equal(fields(`${part(`Content-Disposition: ${"x".repeat(5000)}`, "1")}--X--`), null);
  });

  test("any FormData of texts is read unchanged", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    const name = fc.stringMatching(/^[a-z]{1,10}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, text), { maxLength: 8 }), async (pairs) => {
        const form = new FormData();
        for (const [key, value] of pairs) form.append(key, value);
        const request = new Request("http://x.example/", { method: "POST", body: form });
        const read = multipartFields(
          Buffer.from(await request.arrayBuffer()),
          request.headers.get("content-type") ?? "",
        );
        const crlf = (value: string) => value.replace(/\r\n|\r|\n/g, "\r\n");
        assert.deepEqual(
          read,
          pairs.map(([key, value]) => [key, crlf(value)]),
        );
      }),
    );
  });

  test("a form that is cut anywhere is read or refused, quickly", () => {
    const hook = findAdapter("hook");
    assert.ok(hook !== null);
    const header = (name: string) => (name === "content-type" ? TYPE : undefined);
    const whole = `${field("message", "Disk full")}${field("level", "warning")}--X--\r\n`;
    for (let at = 0; at <= whole.length; at++)
      decodesCleanly(hook, sent(whole.slice(0, at), { header }));
    const [event] = decodesCleanly(hook, sent(whole, { header }))?.events ?? [];
    assert.deepEqual([event?.message, event?.level], ["Disk full", 300]);
    const before = performance.now();
    decodesCleanly(hook, sent("--X\r\n".repeat(400_000), { header }));
    decodesCleanly(hook, sent(`--X\r\n\r\n${"\r\n--".repeat(400_000)}`, { header }));
    assert.ok(performance.now() - before < 2000);
  });

  test("a Gotify message and a Discord message as clients send them", async (t) => {
    for (const [kind, path, names] of [
      ["gotify", "/message", { title: "pve1", message: "backup failed", priority: "8" }],
      ["discord", "", { payload_json: '{"content":"backup failed"}' }],
    ] as const) {
      const to = await connected(kind);
      t.after(() => to.box.stop());
      const form = new FormData();
      for (const [name, text] of Object.entries(names)) form.append(name, text);
      form.append("file", new Blob(["x".repeat(5000)]), "graph.png");
      const answer = await fetch(`${to.box.url}/v1/in/${kind}/${to.short}${path}`, {
        method: "POST",
        body: form,
      });
      assert.ok(answer.ok, kind);
      assert.match((await to.alerts())[0].last_message, /backup failed$/);
    }
  });
});
