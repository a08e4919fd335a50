import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as here } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { headersOf, type MailServer, startMailServer } from "../support/mail.ts";

/** The link in a mail's plain text, whose long lines are folded. */
const linkIn = (mail: MailServer["taken"][number] | undefined): string =>
  /https:\/\/box\.test\/pair#code=[0-9a-f]{48}/.exec(
    (mail?.raw ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "="),
  )?.[0] ?? "";

test("several are invited at once, each by their own mail; what isn't mailed is shown, and who isn't the one can't take it", async (t) => {
  const server = await startMailServer({ starttls: false });
  t.after(() => server.close());
  const logged: string[] = [];
  const keep = (...all: unknown[]) => void logged.push(JSON.stringify(all));
  const log = { info: keep, warn: keep, error: keep, debug: keep, child: () => log } as never;
  const box = await testBox({ publicUrl: "https://box.test" }, handClock(), log);
  t.after(() => box.stop());
  const tab = signedIn(box);
  const invite = (fields: Record<string, string>) =>
    tab.post("/people/invite", { role: "member", hours: "24", ...fields }, { from: "/people" });

  // Without a gateway: nothing of a mail is offered, and each link is shown.
  assert.doesNotMatch((await tab.get("/people")).text, /by mail/);
  const shown = await invite({ email: "ann@example.org bob@example.org" });
  assert.equal([...shown.text.matchAll(/#code=[0-9a-f]{48}</g)].length, 2);
  assert.match(
    shown.text,
    /Send this link to ann@example\.org[\s\S]*Send this link to bob@example\.org/,
  );
  assert.doesNotMatch((await tab.get("/people")).text, /#code=/);
  const early = await box.api("POST", "/v1/pair/codes", { email: "ann@example.org", mail: true });
  assert.deepEqual([early.status, early.body.error.code], [409, "gateway_missing"]);

  const gateway = {
    host: "127.0.0.1",
    port: String(server.port),
    tls: "none",
    from: "box@example.org",
  };
  assert.equal((await box.api("PUT", "/v1/gateways/email", gateway)).status, 200);
  assert.match((await tab.get("/people")).text, /name="mail" value="1" checked/);
  const nobody = await box.api("POST", "/v1/pair/codes", { mail: true });
  assert.deepEqual([nobody.status, nobody.body.error.details[0].field], [400, "/email"]);
  const wrong = await invite({ email: "cy@example.org, nonsense", mail: "1" });
  assert.equal(wrong.status, 422);
  assert.equal(server.taken.length, 0, "nobody is invited where one address is none");
  assert.equal(
    (await invite({ email: Array.from({ length: 21 }, (_, i) => `p${i}@example.org`).join(" ") }))
      .status,
    422,
  );

  const sent = await invite({ email: "cy@example.org, dee@example.org", mail: "1" });
  assert.match(sent.text, /2 mails accepted by the mail server\./);
  assert.doesNotMatch(sent.text, /#code=/, "their links are theirs");
  assert.deepEqual(
    server.taken.map(({ to }) => to),
    [["cy@example.org"], ["dee@example.org"]],
  );
  const [cys, dees] = server.taken.map(linkIn) as [string, string];
  assert.notEqual(cys, dees);
  const headers = new Map(headersOf(server.taken[0]?.raw ?? ""));
  assert.equal(headers.get("Subject"), "owner@example.org invites you to box.test");
  const code = cys.split("#code=")[1];
  const take = (email: string) =>
    box.api("POST", "/v1/pair", { code, email, password: "a long password" }, null);
  assert.equal((await take("eve@example.org")).status, 401);
  assert.equal((await take("cy@example.org")).status, 200);
  assert.equal((await take("cy@example.org")).status, 401, "once");

  server.refuse({ code: 550, text: "5.1.1 no such mailbox" });
  const failed = await invite({ email: "gone@example.org", mail: "1" });
  assert.match(failed.text, /Not mailed: [^<]*550/);
  assert.match(failed.text, /Send this link to gone@example\.org/);
  server.refuse(null);
  const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
  const told = await here(["invite", "eli@example.org", "flo@example.org", "--mail"], { env });
  assert.match(told.out, /^mailed to eli@example\.org, good until .*\nmailed to flo@example\.org/);
  assert.equal(server.taken.length, 4);
  assert.match(linkIn(server.taken[3]), /#code=/);
  assert.match(
    (server.taken[3]?.raw ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "="),
    /class="press"><a href="https:\/\/box\.test\/pair#code=[0-9a-f]{48}">Open<\/a>/,
  );
  const typo = await here(["invite", "gil@example.org", "nonsense", "--mail"], { env });
  assert.deepEqual([typo.code, typo.err.includes("nonsense is no e-mail address")], [2, true]);
  assert.equal(server.taken.length, 4, "nobody is invited where one address is none");
  assert.doesNotMatch(logged.join(""), /#code=|[0-9a-f]{48}/);
  const { entries } = (await box.api("GET", "/v1/audit?limit=50")).body;
  assert.equal(
    entries.filter(({ verb }: { verb: string }) => verb === "issuePairingCode").length,
    7,
  );
});
