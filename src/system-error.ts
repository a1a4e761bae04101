/** A system error in words: `cannot open /etc/x: there is no such file or folder`; undefined for any other error. */
export function explainSystemError(error: unknown): string | undefined {
  const reason = systemReason(error);
  if (reason === undefined) return undefined;
  const { syscall = "", path } = error as NodeJS.ErrnoException;
  const [call = ""] = syscall.split(" "); // "spawn PROGRAM"
  return `cannot ${[verbs[call] ?? call, path].filter(Boolean).join(" ")}: ${reason}`;
}

/** Why the system has refused, and the remedy where it is not plain; undefined for any other error. */
export function systemReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error)) return undefined;
  return reasons[(error as NodeJS.ErrnoException).code ?? ""];
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not: run it as root, or choose another place",
  EPERM: "this user may not: run it as root, or choose another place",
  EROFS: "the file system is read-only: choose another place",
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "it is a folder: name a file",
  EEXIST: "it is there already",
  ENOTEMPTY: "the folder is not empty",
  ENOSPC: "the disk is full: make room, and try again",
  EMFILE: "too many files are open: raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this machine",
};

const verbs: Readonly<Record<string, string>> = {
  access: "read",
  copyfile: "copy",
  lstat: "read",
  mkdir: "make the folder",
  mkdtemp: "make a folder like",
  open: "open",
  opendir: "read",
  read: "read",
  readlink: "read",
  realpath: "read",
  rmdir: "remove",
  scandir: "read",
  spawn: "run",
  stat: "read",
  unlink: "remove",
  write: "write",
};
