/** The keys that the project's rules use, kept first in an event of too many keys. Called only for such an event. */
export type WatchedKeys = () => ReadonlySet<string>;
