/**
 * The container image, without a daemon (OCI image-spec 1.1): dist/image, a layout for linux/amd64 and linux/arm64, and
 * dist/box-image.tar, the same as one file that `docker load` and `podman load` take. Below the executable lies what it
 * is linked with and nothing else: no shell, no package manager. The libraries are those of this machine (Debian), so
 * that the same commit gives the same bytes on the same release of Debian.
 */
import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { tar, withFolders } from "./archive.mjs";
import { debianArch } from "./deb.mjs";
import { BuildError, buildExecutable } from "./executable.mjs";
import { runtimeFor } from "./runtime.mjs";
import { smoke } from "./smoke.mjs";

/** The user that a box runs as, and whose its volume is. */
const USER = 65532;
const DATA = "/var/lib/box";
const PORT = "8080/tcp";

const LIBRARIES = [
  "libc.so.6",
  "libm.so.6",
  "libdl.so.2",
  "libpthread.so.0",
  "librt.so.1",
  "libresolv.so.2",
  "libstdc++.so.6",
  "libgcc_s.so.1",
  "libatomic.so.1",
];

/** Where the libraries lie on this machine and in the image, and the Debian packages that they are of. */
const BASES = {
  x64: {
    from: "/lib/x86_64-linux-gnu",
    to: "lib/x86_64-linux-gnu",
    loader: { from: "/lib64/ld-linux-x86-64.so.2", to: "lib64/ld-linux-x86-64.so.2" },
    packages: ["libc6", "libstdc++6", "libgcc-s1", "libatomic1"],
  },
  arm64: {
    from: "/usr/aarch64-linux-gnu/lib",
    to: "lib/aarch64-linux-gnu",
    loader: {
      from: "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
      to: "lib/ld-linux-aarch64.so.1",
    },
    packages: ["libc6", "libstdc++6", "libgcc-s1", "libatomic1"].map(
      (name) => `${name}-arm64-cross`,
    ),
  },
};

const TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
};

/**
 * Writes dist/image, dist/box-image.tar and dist/box-image.sbom.json. `about`: version, commit and time (seconds since
 * the epoch) of the tree; `bill`: makes the bill of materials from the bundled files.
 */
export async function image(root, { about, bill }) {
  const out = path.join(root, "dist/image");
  fs.rmSync(out, { recursive: true, force: true });
  const blobs = path.join(out, "blobs/sha256");
  fs.mkdirSync(blobs, { recursive: true });
  const write = (bytes, mediaType) => {
    const sha256 = hash("sha256", bytes, "hex");
    fs.writeFileSync(path.join(blobs, sha256), bytes);
    return { mediaType, digest: `sha256:${sha256}`, size: bytes.length };
  };
  const made = [];
  let bundled = [];
  for (const arch of ["x64", "arm64"]) {
    const built = await executableFor(root, { arch, version: about.version });
    bundled = built.inputs;
    made.push({ arch, ...platform({ arch, box: built.box, about, write }) });
  }
  const index = write(
    json({ schemaVersion: 2, mediaType: TYPES.index, manifests: made.map(forPlatform) }),
    TYPES.index,
  );
  const top = {
    schemaVersion: 2,
    mediaType: TYPES.index,
    manifests: [
      {
        ...index,
        annotations: {
          "io.containerd.image.name": `docker.io/library/box:${about.version}`,
          "org.opencontainers.image.ref.name": about.version,
        },
      },
    ],
  };
  fs.writeFileSync(path.join(out, "index.json"), json(top));
  fs.writeFileSync(path.join(out, "oci-layout"), json({ imageLayoutVersion: "1.0.0" }));
  const archive = path.join(root, "dist/box-image.tar");
  fs.writeFileSync(archive, archiveOf(out, { made, about }));
  const parts = bill(bundled);
  parts.components.push(...made.flatMap(({ arch }) => libraryParts(arch)));
  fs.writeFileSync(
    path.join(root, "dist/box-image.sbom.json"),
    `${JSON.stringify(parts, null, 2)}\n`,
  );
  for (const { arch, manifest, size } of made)
    process.stdout.write(
      `linux/${debianArch[arch]}  ${(size / 1e6).toFixed(1)} MB  ${manifest.digest}\n`,
    );
  process.stdout.write(`index  ${index.digest}\n`);
}

const json = (value) => Buffer.from(JSON.stringify(value));

async function executableFor(root, { arch, version }) {
  const { node, run } = await runtimeFor(root, arch);
  const output = path.join(root, "dist", `.image-${arch}`, "box");
  fs.mkdirSync(path.dirname(output), { recursive: true });
  try {
    const inputs = await buildExecutable({ root, output, node, arch, run });
    await smoke([...run, output], { version, seconds: run.length > 0 ? 300 : 20 });
    return { inputs, box: fs.readFileSync(output) };
  } finally {
    fs.rmSync(path.dirname(output), { recursive: true });
  }
}

/** One platform's layers, configuration and manifest. */
function platform({ arch, box, about, write }) {
  const program = [{ name: "usr/bin/box", mode: 0o755, bytes: box }];
  const tars = [tar(withFolders(baseOf(arch)), about.time), tar(withFolders(program), about.time)];
  const layers = tars.map((bytes) => write(gzipSync(bytes, { level: 9 }), TYPES.layer));
  const ids = tars.map((bytes) => `sha256:${hash("sha256", bytes, "hex")}`);
  const config = write(json(configOf({ arch, about, ids })), TYPES.config);
  const manifest = write(
    json({ schemaVersion: 2, mediaType: TYPES.manifest, config, layers }),
    TYPES.manifest,
  );
  const size = layers.reduce((total, layer) => total + layer.size, 0);
  return { layers, config, manifest, size };
}

const forPlatform = ({ arch, manifest }) => ({
  ...manifest,
  platform: { architecture: debianArch[arch], os: "linux" },
});

/** Libraries, the user, and the two directories that a box writes to. */
function baseOf(arch) {
  const { from, to, loader, packages } = BASES[arch];
  const text = (name, lines) => ({ name, mode: 0o644, bytes: Buffer.from(lines) });
  return [
    text("etc/group", `root:x:0:\nbox:x:${USER}:\n`),
    text("etc/nsswitch.conf", "hosts: files dns\n"),
    text("etc/passwd", `root:x:0:0::/:/nonexistent\nbox:x:${USER}:${USER}::${DATA}:/nonexistent\n`),
    library(loader.from, loader.to),
    ...LIBRARIES.map((name) => library(path.join(from, name), `${to}/${name}`)),
    { name: "tmp/", mode: 0o1777 },
    ...packages.map((name) => ({
      name: `usr/share/doc/${name}/copyright`,
      mode: 0o644,
      bytes: read(`/usr/share/doc/${name}/copyright`),
    })),
    { name: `${DATA.slice(1)}/`, mode: 0o700, owner: USER },
  ];
}

const library = (from, to) => ({ name: to, mode: 0o755, bytes: read(from) });

function read(file) {
  if (fs.existsSync(file)) return fs.readFileSync(file);
  const needed = Object.values(BASES).flatMap(({ packages }) => packages);
  throw new BuildError(
    `${file} is missing: the image is made on Debian for x64, with ${needed.join(" ")}`,
  );
}

function configOf({ arch, about, ids }) {
  const created = new Date(about.time * 1000).toISOString();
  return {
    created,
    architecture: debianArch[arch],
    os: "linux",
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { [PORT]: {} },
      // As in the units: threads that have ended leave less memory behind.
      Env: ["PATH=/usr/bin", `BOX_DATA=${DATA}`, `HOME=${DATA}`, "MALLOC_ARENA_MAX=2"],
      Entrypoint: ["box"],
      Cmd: ["serve", "--data", DATA, "--listen", "0.0.0.0:8080"],
      Volumes: { [DATA]: {} },
      WorkingDir: DATA,
      // Docker and Podman read it; the OCI's own configuration has no such field. Times in nanoseconds.
      Healthcheck: {
        Test: ["CMD", "box", "health"],
        Interval: 30e9,
        Timeout: 10e9,
        StartPeriod: 60e9,
      },
      Labels: {
        "org.opencontainers.image.title": "box",
        "org.opencontainers.image.version": about.version,
        "org.opencontainers.image.revision": about.commit,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.source": about.source,
      },
    },
    rootfs: { type: "layers", diff_ids: ids },
    history: ["libraries", "box"].map((what) => ({ created, created_by: what })),
  };
}

/** The layout as one file, with the list that Docker's older stores read: they take no index, so each platform has a tag. */
function archiveOf(out, { made, about }) {
  const files = fs
    .readdirSync(out, { recursive: true })
    .filter((name) => fs.statSync(path.join(out, name)).isFile());
  const inside = ({ digest }) => `blobs/${digest.replace(":", "/")}`;
  const list = made.map(({ arch, config, layers }, i) => ({
    Config: inside(config),
    RepoTags: [
      ...(i === 0 ? [`box:${about.version}`] : []),
      `box:${about.version}-${debianArch[arch]}`,
    ],
    Layers: layers.map(inside),
  }));
  const entries = files.map((name) => ({ name, bytes: fs.readFileSync(path.join(out, name)) }));
  entries.push({ name: "manifest.json", bytes: json(list) });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return tar(withFolders(entries.map((entry) => ({ mode: 0o644, ...entry }))), about.time);
}

/** The libraries below the executable, for the bill of materials. */
function libraryParts(arch) {
  return BASES[arch].packages.map((name) => {
    const asked = spawnSync("dpkg-query", ["-W", "-f", "$" + "{Version}", name], {
      encoding: "utf8",
    });
    if (asked.status !== 0) throw new BuildError(`dpkg-query doesn't know ${name}`);
    const purl = `pkg:deb/debian/${name.replaceAll("+", "%2B")}@${asked.stdout.replaceAll("+", "%2B")}`;
    return { type: "library", "bom-ref": purl, name, version: asked.stdout, purl };
  });
}
