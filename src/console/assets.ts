import { asset, assetBytes } from "../kit/assets.ts";
import type { Files } from "./shell.ts";

/** What browsers get beside pages: a style sheet, a script, those of single pages, an icon; their address changes with them. */
export interface Assets extends Files {
  /** The file at an address in the best encoding that is taken; null where there is none, also of another version. */
  serve(path: string, acceptEncoding: string | undefined): Response | null;
}

const FOLDER = "dist/console";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
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
  const list: { hash: string; files: string[] } = JSON.parse(asset(`${FOLDER}/list.json`));
  const base = `/assets/${list.hash}/`;
  const names = new Set(list.files);
  const read = new Map<string, Uint8Array<ArrayBuffer>>();
  const bytesOf = (file: string): Uint8Array<ArrayBuffer> => {
    const bytes = read.get(file) ?? assetBytes(`${FOLDER}/${file}`);
    read.set(file, bytes);
    return bytes;
  };
  return {
    style: `${base}console.css`,
    script: `${base}console.js`,
    icon: `${base}icon.svg`,
    own: (name) => `${base}${name}.js`,
    serve(path, acceptEncoding) {
      const name = path.startsWith(base) ? path.slice(base.length) : "";
      if (!names.has(name)) return null;
      const encoding = bestEncoding(acceptEncoding);
      const bytes = bytesOf(encoding === null ? name : name + ENCODINGS[encoding]);
      return new Response(bytes, {
        headers: {
          "Content-Type": TYPES[name.slice(name.lastIndexOf("."))] ?? "application/octet-stream",
          "Content-Length": String(bytes.length),
          ...(encoding === null ? {} : { "Content-Encoding": encoding }),
          // Its address changes with what is in it.
          "Cache-Control": "public, max-age=31536000, immutable",
          Vary: "Accept-Encoding",
          "X-Content-Type-Options": "nosniff",
          "Cross-Origin-Resource-Policy": "same-origin",
        },
      });
    },
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
