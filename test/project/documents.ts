import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/commands.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { blocks, documents, readAll, root, seatByLink, vector, withBox } from "./document.ts";

/* The commands of every document, word for word, each on a new box: `npm run test:docs`. */
for (const document of documents) {
  if (document === "docs/guide.md" || blocks(document, "sh").length === 0) continue;
  test(`the commands of ${document}, on a new box`, needs("bash", "curl", "sed"), () =>
    withBox(async (scene) => {
      const receiver = await startReceiver();
      await readAll(document, scene, receiver.url).finally(() => receiver.close());
    }),
  );
}

test(
  "the guide from top to bottom, word for word, on a new box",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async (scene) => {
      const receiver = await startReceiver();
      try {
        const out = await readAll("docs/guide.md", scene, receiver.url);
        assert.match(
          out,
          /1\s+open\s+warn\s+3 .* payments\s+slow payments\s+payment 4713 took 2300 ms/,
        );
        assert.match(out, /2\s+[0-9a-f]{16}\s+payment <\*> took <\*>\n.*\n3 lines, 2 templates/);
        assert.match(out, /\npayments +primary +ann@example\.org +20/);
        assert.match(out, /it got through/);
        assert.match(out, /step 1 of the ladder pages ann@example\.org/);
        assert.match(out, /it answered 204/);
        assert.match(out, /resolution/);
        assert.match(out, new RegExp(vector().signature));
        const events = receiver.received
          .filter(({ path }) => path === "/hook")
          .map(({ body }) => JSON.parse(body).event);
        assert.deepEqual(events.slice(0, 3), ["alert.test", "alert.opened", "alert.escalated"]);
        const run = receiver.received.find(({ path }) => path === "/restart");
        assert.deepEqual(JSON.parse(run?.body ?? ""), { service: "worker" });
      } finally {
        await receiver.close();
      }
    }),
);

test(
  "the README from top to bottom is one account, also after a browser's, and touches no other alert",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ url, said, shell }) => {
      const who = { email: "me@example.org", password: "correct horse" };
      await until(() => /box quickstart .*\n/.test(said()), "it says how");
      // What `npm start` prints, with the e-mail and password of the block.
      const printed = said()
        .split("\n")
        .filter((line) => line.startsWith("  "));
      const pasted = await shell(`unset BOX_URL BOX_DATA\n${printed.slice(0, 2).join("\n")}`);
      assert.equal((await seatByLink(pasted.out, who)).headers.get("location"), "/welcome");
      const [block = ""] = blocks("README.md", "sh", "## First alert");
      const login = block.split("\n").find((line) => line.includes("box login")) ?? "";
      const someone = [
        login,
        'box project add other; box rule set other - <<< \'{"name": "errors"}\'',
        'box ingest --token "$(box source add other web)" <<< "somebody else\'s"',
      ];
      const before = await shell(someone.join("\n"));
      assert.equal(before.code, 0, before.err);
      const read = await shell(block.replaceAll("http://127.0.0.1:8080", url), {}, root);
      assert.equal(read.code, 0, read.err);
      const { out } = await shell(
        "box account list --json; box alerts --json; box quickstart --by ntfy </dev/null || true",
      );
      const [{ accounts }, { alerts }] = out
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
      assert.deepEqual(
        accounts.map(({ email, role }: { email: string; role: string }) => [email, role]),
        [[who.email, "owner"]],
      );
      const states = alerts.map(
        ({ project, state }: { project: string; state: string }) => `${project} ${state}`,
      );
      assert.deepEqual([...new Set(states)].sort(), ["other open", "shop acknowledged"]);
      assert.match(out, /✓ you are me@example\.org \(owner\)/);
      const signed = await fetch(`${url}/signin`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: url, accept: "text/html" },
        body: new URLSearchParams(who),
      });
      assert.equal(signed.status, 303);
    }),
);
