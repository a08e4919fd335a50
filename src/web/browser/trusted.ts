/*
 * The page's policy lets no text become markup, or the address of a worker, but by the Trusted Types policy `box`, which is made
 * once, here. What it passes comes from the box itself, whose pages escape every value.
 */
interface MarkupPolicy {
  createHTML(text: string): string;
  createScriptURL(address: string): string;
}

const factory = (
  globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: MarkupPolicy): MarkupPolicy };
  }
).trustedTypes;
const policy = factory?.createPolicy("box", {
  createHTML: (text) => text,
  createScriptURL: (address) => address,
});

/** An answer of the box as a document. Its scripts never run. */
export function parseAnswer(text: string): Document {
  return new DOMParser().parseFromString(policy?.createHTML(text) ?? text, "text/html");
}

/** The service worker's address. */
export const workerAddress = (base: string): string =>
  policy?.createScriptURL(`${base}/sw.js`) ?? `${base}/sw.js`;
