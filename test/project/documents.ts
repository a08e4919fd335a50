import assert from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../support/commands.ts";
import { startReceiver } from "../support/receiver.ts";
import { blocks, documents, readAll, vector, withBox } from "./document.ts";

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
