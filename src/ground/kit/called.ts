/** An id as the box makes them for people and things. */
const ID = /(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g;

export const idsIn = (text: string): readonly string[] => text.match(ID) ?? [];

/** `text` with what its ids are called; one that nothing has any more is said to be gone. */
export function withCalled(text: string, called: Readonly<Record<string, string>>): string {
  return text.replace(ID, (id) => called[id] ?? "one that was removed");
}
