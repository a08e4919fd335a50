import assert from "node:assert/strict";
import { test } from "node:test";
import { pathForm } from "../../../src/ground/kit/path-form.ts";

test("a path is of a form segment by segment, and a name stands for a whole one", () => {
  const form = pathForm("/projects/{project}/feed.ics/{id}");
  assert.deepEqual([form.names, form.literals], [["project", "id"], 3]);
  const read = (path: string) => form.read(path.split("/"));
  assert.deepEqual(read("/projects/a%2Fb/feed.ics/7"), ["a%2Fb", "7"]);
  for (const other of [
    "/projects//feed.ics/7",
    "/projects/a/feedxics/7",
    "/projects/a/feed.ics",
    "/projects/a/feed.ics/7/",
    "/x/a/feed.ics/7",
  ])
    assert.equal(read(other), null, other);
  assert.throws(() => pathForm("/feeds/{id}.ics"), /no whole segment/);
});
