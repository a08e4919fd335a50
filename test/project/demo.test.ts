import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { staysOpen } from "../../bench/demo-explore.ts";
import { box } from "../support/command-line.ts";
import { root } from "./document.ts";

test("the demonstration stays at a terminal, and ends by itself where nobody looks", () => {
  assert.equal(staysOpen([], {}, true), true);
  assert.equal(staysOpen(["--once"], {}, true), false);
  assert.equal(staysOpen([], { CI: "true" }, true), false);
  assert.equal(staysOpen([], {}, false), false);
  assert.equal(staysOpen(["--stay"], { CI: "true" }, false), true);
});

test("the demonstration shows a box at work and leaves it to be explored in a browser and with the commands that it prints", async (t) => {
  const child = spawn(process.execPath, [join(root, "bench/demo.ts"), "--stay"]);
  t.after(() => child.kill("SIGKILL"));
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (out += chunk));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", () => out.includes("Ctrl-C ends it") && resolve());
  });
  // As long as it takes: a second of its work is many on a busy machine, and it gives up by itself.
  await Promise.race([ready, ended]);
  assert.match(out, /every alert's webhook arrived and verified, and rang a phone/);
  assert.match(out, /phone ☎ (ada|bob): /);

  const env = Object.fromEntries(
    [...out.matchAll(/(BOX_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const commands = [...out.matchAll(/^ {2}box ([^#\n]*)/gm)].map(([, words = ""]) =>
    [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
  );
  assert.ok(commands.length > 8, out);
  let seen = "";
  for (const words of commands) {
    const said = await box(words, { env });
    assert.equal(said.code, 0, `${words.join(" ")}: ${said.err}`);
    seen += said.out;
  }
  assert.match(seen, /\npaged +ada@example\.com\n/);
  assert.match(seen, /ada@example\.com acknowledged\./);
  assert.doesNotMatch(seen, /^state +resolved/m);
  assert.match(seen, /Rung 1 paged ada@example\.com/);

  const look = /^ {2}(http:\S+\/look\/\S+)$/m.exec(out)?.[1] ?? "";
  const into = await fetch(look, { redirect: "manual" });
  const cookie = into.headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = async (address: string) => {
    const answer = await fetch(address, { headers: { accept: "text/html", cookie } });
    assert.equal(answer.status, 200, address);
    return answer.text();
  };
  const { href, origin } = new URL(into.headers.get("location") ?? "");
  const alerts = await page(href);
  assert.match(alerts, /loud lines/);
  const alert = /href="(\/a\/\d+)"/.exec(alerts)?.[1] ?? "";
  assert.match(await page(origin + alert), /ada/);
  assert.match(await page(`${origin}${alert}/lines`), /class="line/);
  assert.match(await page(`${origin}/oncall`), /primary[\s\S]*ada/);
  const closed = await fetch(`${look}x`, { redirect: "manual" });
  assert.deepEqual([closed.status, closed.headers.get("set-cookie")], [404, null]);

  child.kill("SIGINT");
  assert.equal(await ended, 0, out);
});
