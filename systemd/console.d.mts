/** Whether dist/console is what the sources make. */
export function isConsoleBundled(root: string): boolean;
/** Writes dist/console where it isn't what the sources make. Returns the paths of all bundled files. */
export function bundleConsole(root: string): Promise<string[]>;
