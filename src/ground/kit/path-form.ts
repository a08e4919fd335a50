/** Paths of one form, as `/projects/{project}/rules`: each name in braces stands for a whole segment that isn't empty. */
export type PathForm = ReturnType<typeof pathForm>;

const isName = (segment: string): boolean => segment.startsWith("{") && segment.endsWith("}");

/** Segment by segment: V8 makes machine code of each regular expression, and there are hundreds of forms. */
export function pathForm(path: string) {
  const segments = path.split("/");
  if (segments.some((one) => /[{}]/.test(one) && !isName(one)))
    throw new Error(`a name in ${path} is no whole segment`);
  const named = segments.map(isName);
  const names = segments.filter(isName);
  return {
    names: names.map((name) => name.slice(1, -1)),
    /** How many segments are no names. */
    literals: segments.length - names.length,
    /** What stands where the names are, in their order; null for a path of another form. `sent`: the path's segments. */
    read(sent: readonly string[]): string[] | null {
      if (sent.length !== segments.length) return null;
      const fits = segments.every((one, i) => (named[i] ? sent[i] !== "" : one === sent[i]));
      return fits ? sent.filter((_, i) => named[i]) : null;
    },
  };
}
