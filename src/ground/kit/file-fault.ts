const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  EACCES: "this user may not use it",
  EPERM: "this user may not use it",
  EISDIR: "it is a directory, and a file is needed",
  ENOTDIR: "a part of its path is no directory",
  EEXIST: "it is there already",
  ENOSPC: "the disk is full",
  EROFS: "its file system may only be read",
  ENAMETOOLONG: "its name is too long",
};

/** What went wrong with a file, as a text for people that doesn't contain the file's name. */
export function fileFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return WORDS[(error as NodeJS.ErrnoException).code ?? ""] ?? error.message;
}
