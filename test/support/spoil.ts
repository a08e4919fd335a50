import { registerHooks } from "node:module";

/*
 * Loaded into a process of tests that have to fail: SPOILT is the end of a source file's path, a text of it, and what stands
 * there instead.
 */
const [file, text, instead] = JSON.parse(process.env["SPOILT"] ?? "") as [string, string, string];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(file)) return loaded;
    const parts = String(loaded.source).split(text);
    if (parts.length !== 2)
      throw new Error(`"${text}" stands ${parts.length - 1} times in ${file}`);
    return { ...loaded, source: parts.join(instead) };
  },
});
