import { test } from "node:test";
import { needs } from "../support/commands.ts";
import { startReceiver } from "../support/receiver.ts";
import { blocks, documents, readAll, withBox } from "./document.ts";

/* The commands of every document, word for word, each on a new box: `npm run test:docs`. The suite runs the guide's. */
for (const document of documents) {
  if (document === "docs/guide.md" || blocks(document, "sh").length === 0) continue;
  test(`the commands of ${document}, on a new box`, needs("bash", "curl", "sed"), () =>
    withBox(async (scene) => {
      const receiver = await startReceiver();
      await readAll(document, scene, receiver.url).finally(() => receiver.close());
    }),
  );
}
