/** A bad value of a flag or an environment variable: exit code 2. */
export class UsageError extends Error {}

/**
 * Checks an http or https address without query, fragment and user, and returns it without a slash at its end. Empty
 * stays empty. For a bad address it adds a sentence that names the flag to `faults` and returns "".
 */
export function webUrl(name: string, text: string, faults: string[]): string {
  if (text === "") return "";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  ) {
    faults.push(`--${name} must be an http or https address without query, not "${text}"`);
    return "";
  }
  return url.href.replace(/\/+$/, "");
}

type Words<S> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Words<Rest>>}` : S;
/** `--by-rule <n>` is `byRule`, and `--no-lines` is `lines`. */
export type FlagName<F> = F extends `--no-${infer Name}`
  ? Words<Name>
  : F extends `--${infer Name} ${string}`
    ? Words<Name>
    : F extends `--${infer Name}`
      ? Words<Name>
      : never;

/** Flags as they are typed, by how they are written: `--log-days <n>` is a text, `--es <host:port...>` several. */
export type TypedFlags<F> = {
  [K in keyof F as FlagName<K>]?: K extends `${string}...>`
    ? string[]
    : K extends `${string}>`
      ? string
      : boolean;
};
