import { asset, assetBytes } from "../../ground/kit/assets.ts";
import type { Files } from "./shell.ts";

/** What browsers get beside pages: a style sheet, a script, those of single pages, icons; their address changes with them. */
export interface Assets extends Files {
  /** The file at an address in the best encoding that is taken; null where there is none, also of another version. */
  serve(path: string, acceptEncoding: string | undefined): Response | null;
  /** The address of one of them, by its name. */
  at(name: string): string;
  /** The service worker, which browsers look at again and again at one address. */
  worker(acceptEncoding: string | undefined): Response;
}

const FOLDER = "dist/console";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/** By preference; each lies compressed beside the file. */
const ENCODINGS = { br: ".br", gzip: ".gz" } as const;

let made: Assets | undefined;

/** Reads the list at the first call and each file when it is first asked for. Throws where nothing was bundled. */
export function assets(): Assets {
  made ??= createAssets();
  return made;
}

function createAssets(): Assets {
  const list: { hash: string; files: string[]; worker: string } = JSON.parse(
    asset(`${FOLDER}/list.json`),
  );
  const base = `/assets/${list.hash}/`;
  const names = new Set(list.files);
  const read = new Map<string, Uint8Array<ArrayBuffer>>();
  const bytesOf = (file: string): Uint8Array<ArrayBuffer> => {
    const bytes = read.get(file) ?? assetBytes(`${FOLDER}/${file}`);
    read.set(file, bytes);
    return bytes;
  };
  const send = (
    name: string,
    acceptEncoding: string | undefined,
    headers: Record<string, string>,
  ): Response => {
    // A picture is compressed as it is.
    const encoding = name.endsWith(".png") ? null : bestEncoding(acceptEncoding);
    const bytes = bytesOf(encoding === null ? name : name + ENCODINGS[encoding]);
    return new Response(bytes, {
      headers: {
        "Content-Type": TYPES[name.slice(name.lastIndexOf("."))] ?? "application/octet-stream",
        "Content-Length": String(bytes.length),
        ...(encoding === null ? {} : { "Content-Encoding": encoding }),
        Vary: "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        ...headers,
      },
    });
  };
  const at = (name: string) => base + name;
  return {
    style: at("console.css"),
    script: at("console.js"),
    icon: at("icon.svg"),
    own: (name) => at(`${name}.js`),
    at,
    serve(path, acceptEncoding) {
      const name = path.startsWith(base) ? path.slice(base.length) : "";
      if (!names.has(name)) return null;
      // Its address changes with what is in it.
      return send(name, acceptEncoding, {
        "Cache-Control": "public, max-age=31536000, immutable",
      });
    },
    worker: (acceptEncoding) =>
      send(list.worker, acceptEncoding, {
        "Cache-Control": "no-cache",
        // It asks nobody but this box, and runs nothing that comes later.
        "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
      }),
  };
}

/** What an `Accept-Encoding` header takes of ours (RFC 9110 §12.5.3): named, and not with the weight nought. */
function bestEncoding(header: string | undefined): keyof typeof ENCODINGS | null {
  const taken = new Set(
    (header ?? "")
      .toLowerCase()
      .split(",")
      .map((part) => part.split(";").map((word) => word.trim()))
      .filter((words) => !words.some((word) => /^q=0(?:\.0*)?$/.test(word)))
      .map(([name]) => name),
  );
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : null;
}
