/** An id of a person or thing (`hexId`). */
const ID = /(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g;

export const idsIn = (text: string): readonly string[] => text.match(ID) ?? [];

/** Replaces each id in `text` by its name. An id without a name is marked as gone. */
export function withCalled(text: string, called: Readonly<Record<string, string>>): string {
  return text.replace(ID, (id) => called[id] ?? "one that was removed");
}
