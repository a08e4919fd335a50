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
type FlagName<F> = F extends `--no-${infer Name}`
  ? Words<Name>
  : F extends `--${infer Name} ${string}`
    ? Words<Name>
    : F extends `--${infer Name}`
      ? Words<Name>
      : never;

interface Says {
  /** In place of `about`: it must be given. */
  must?: string;
  about?: string;
  usual?: string;
  choices?: readonly string[];
  /** Each time that it is given adds one. */
  repeats?: true;
  /** It has an environment variable, as `flag` says. */
  twin?: string;
}

export type FlagWords = string | Says;

/** Flags of a command, by how they are written: what each says, and whether it must be given, has a usual value or may be repeated. */
export type Flags = Readonly<Record<string, FlagWords>>;

type ValueOf<F, Says> = F extends `${string}...>`
  ? string[]
  : Says extends { repeats: true }
    ? string[]
    : Says extends { choices: readonly (infer Choice)[] }
      ? Choice
      : F extends `${string}<${"time" | "length" | "span" | "level"}>`
        ? number
        : F extends `${string}>`
          ? string
          : F extends `${string}]`
            ? string | true
            : F extends `--no-${string}`
              ? boolean
              : true;

type IsThere = { must: string } | { usual: string } | { repeats: true };

/** What such a command is given: `--by-rule` is `byRule`, true; `--no-lines` is `lines`, false; `--event <kind...>` is a list of texts, `--new [days]` a text or true, `--from <time>` seconds. */
export type FlagsGiven<F extends Flags> = {
  [K in keyof F as F[K] extends IsThere ? never : FlagName<K>]?: ValueOf<K, F[K]>;
} & { [K in keyof F as F[K] extends IsThere ? FlagName<K> : never]: ValueOf<K, F[K]> };
