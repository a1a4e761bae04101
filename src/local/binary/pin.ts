/** Where a binary of one version comes from; `{os}` and `{arch}` in addresses stand for Go's names of this machine's. */
export interface BinaryPin {
  readonly version: string;
  /** The versions that are as good when found in PATH (semver range). */
  readonly range: string;
  /** How the binary is asked for its version: the first `x.y.z` after `pattern` counts. */
  readonly versionArgs: readonly string[];
  readonly versionPattern: RegExp;
  /** Missing where upstream publishes no file that can be checked; `unreleased` says what it publishes instead. */
  readonly release?: ReleasePin;
  /** What follows the program's name where there is no release: an image only, unless this says otherwise. */
  readonly unreleased?: string;
  readonly build: BuildPin;
}

/** An official release: a file, or a member of a tar or zip archive, and the checksum file that is published next to it. */
export interface ReleasePin {
  readonly url: string;
  readonly checksums: string;
  /** The path of the binary in the archive; the file itself is the binary when there is none. */
  readonly member?: string;
}

/** How the binary is built from the Go module registry: `go build` of a package in a module of our own that requires the others. */
export interface BuildPin {
  readonly package: string;
  /** The oldest Go that its modules accept; 1.24 unless it is said. */
  readonly go?: string;
  readonly require: Readonly<Record<string, string>>;
  /** Modules in the replace list of this one that live in its `staging` folder are required at this version instead. */
  readonly staging?: { readonly module: string; readonly version: string };
  /** The package has a `Main` and is no program: one of ours calls it, and imports these for what they add to it. */
  readonly parts?: readonly string[];
  /** `go install package@version` in place of a module of our own. */
  readonly install?: true;
  /** The package's tests are the program: `go test -c`. */
  readonly tests?: true;
  readonly ldflags?: string;
  /** Minutes that it took on two busy cores with a cold cache: what a waiting user is told. */
  readonly minutes: number;
}

/** A program that does not say its version, so that none in PATH is taken for it. */
export function untold(version: string): Omit<BinaryPin, "build"> {
  return { version, range: version, versionArgs: ["--version"], versionPattern: /(?!)/ };
}
