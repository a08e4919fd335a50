import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";

const root = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(root, name), "utf8");
const { version } = JSON.parse(read("package.json"));

test("compose files name one image, of this version", () => {
  const files = globSync("deploy/compose*.yaml", { cwd: root });
  assert.equal(files.length, 3);
  const images = files.flatMap((file) =>
    Object.values<{ image?: string }>(parse(read(file), { logLevel: "silent" }).services)
      .map(({ image }) => image ?? "")
      .filter((image) => image.includes("box")),
  );
  assert.deepEqual(images, Array(2).fill(`\${BOX_IMAGE:-box:${version}}`));
});

test("the manifests are all in the kustomization, and run the image of this version", () => {
  const kustomization = parse(read("deploy/kubernetes/kustomization.yaml"));
  assert.deepEqual(kustomization.images, [{ name: "box", newName: "box", newTag: version }]);
  const files = globSync("*.yaml", { cwd: join(root, "deploy/kubernetes") });
  const others = files.filter((file) => !["kustomization.yaml", "monitor.yaml"].includes(file));
  assert.deepEqual(others.sort(), kustomization.resources.toSorted());
  const objects = others.flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((one) => one.toJS()),
  );
  const set = objects.find(({ kind }) => kind === "StatefulSet");
  assert.equal(set.spec.replicas, 1);
  const [container] = set.spec.template.spec.containers;
  // A command in the pod finds the store that the box serves.
  assert.equal(container.args[2], container.env[0].value);
});
