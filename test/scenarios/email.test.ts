import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { headersOf, startMailServer } from "../support/mail.ts";
import { settle } from "../support/until.ts";

test("an alert comes by mail, opened and resolved in one thread; what isn't an address or a host is refused", async () => {
  const server = await startMailServer({ starttls: false });
  const box = await testBox();
  try {
    const token = await box.project("shop");
    await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
    const path = "/v1/projects/shop/integrations";
    const good = {
      type: "email",
      host: "127.0.0.1",
      port: String(server.port),
      tls: "none",
      from: "box@shop.example",
      to: "ann@example.org",
      user: "",
      password: "canary-password",
    };
    const refused: [object, number, string][] = [
      [{ to: "ann@example.org\r\nBcc: eve@example.org" }, 400, "/to"],
      [{ to: "ann@example.org, eve@example.org" }, 400, "/to"],
      [{ from: "Box <box@shop.example>" }, 400, "/from"],
      [{ host: "mail.example.org:25/x" }, 400, "/host"],
      [{ host: "169.254.169.254" }, 403, "/host"],
      [{ host: "fe80::1" }, 403, "/host"],
      [{ port: "0" }, 400, "/port"],
      [{ port: "65536" }, 400, "/port"],
      [{ tls: "maybe" }, 400, "/tls"],
      [{ from: "" }, 422, "/from"],
    ];
    for (const [changes, status, field] of refused) {
      const bad = await box.api("POST", path, { ...good, ...changes });
      assert.deepEqual([bad.status, bad.body.error?.details[0].field], [status, field]);
    }
    const { id } = (await box.api("POST", path, good)).body;
    const read = (await box.api("GET", `${path}/${id}`)).body;
    assert.equal(read.url, `smtp://127.0.0.1:${server.port}`);
    assert.equal(JSON.stringify(read).includes("canary"), false);
    assert.deepEqual((await box.api("POST", `${path}/${id}/test`)).body, { ok: true });

    await box.ingest(token, { message: "payment 4711 failed", level: 500 });
    await settle(box);
    await box.api("POST", "/v1/alerts/1/resolve");
    await settle(box);
    const [, opened, resolved, ...more] = server.taken.map(({ raw }) => new Map(headersOf(raw)));
    assert.equal(more.length, 0);
    assert.match(opened?.get("Subject") ?? "", /^\[Critical\] shop: payment 4711 failed$/);
    assert.match(resolved?.get("Subject") ?? "", /^Resolved shop: payment 4711 failed$/);
    assert.equal(opened?.get("Importance"), "high");
    assert.equal(opened?.get("References"), resolved?.get("References"));
    assert.notEqual(opened?.get("Message-ID"), resolved?.get("Message-ID"));
    assert.deepEqual(server.taken[1]?.to, ["ann@example.org"]);
    assert.match(server.taken[1]?.raw ?? "", /payment 4711 failed/);
  } finally {
    await box.stop();
    await server.close();
  }
});
