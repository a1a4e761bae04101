import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A machine's folder with a `systemctl` that runs nothing, and knows what would run, with which files. */
export interface FakeSystem {
  readonly systemctl: string;
  /** The commands since the last look. */
  commands(): Promise<string[]>;
  /** What each unit that runs was started with: its text and drop-ins as last loaded, and /etc/<unit>.conf. */
  running(): Promise<Readonly<Record<string, string>>>;
  /** The same for the units that are enabled. */
  enabled(): Promise<string[]>;
  /** Starts of this unit fail from now on, or succeed again. */
  breakUnit(name: string, broken: boolean): Promise<void>;
}

/** Puts one beside the folder, which is the machine's root, with units of the machine's own image. */
export async function fakeSystem(dir: string, ownUnits: Readonly<Record<string, string>> = {}): Promise<FakeSystem> {
  for (const each of ["root/etc/systemd/system", "image", "loaded", "running", "enabled", "broken"])
    await mkdir(join(dir, each), { recursive: true });
  for (const [name, text] of Object.entries(ownUnits)) await writeFile(join(dir, "image", name), text);
  const systemctl = join(dir, "systemctl");
  const log = join(dir, "commands");
  await writeFile(log, "");
  await writeFile(systemctl, script(dir));
  await chmod(systemctl, 0o755);
  return {
    systemctl,
    async commands() {
      const text = await readFile(log, "utf8");
      await writeFile(log, "");
      return text.split("\n").filter((line) => line !== "");
    },
    async running() {
      const names = await readdir(join(dir, "running"));
      const entries = names.map(async (name) => [name, await readFile(join(dir, "running", name), "utf8")] as const);
      return Object.fromEntries(await Promise.all(entries));
    },
    enabled: async () => (await readdir(join(dir, "enabled"))).sort(),
    async breakUnit(name, broken) {
      await writeFile(join(dir, "broken", name), broken ? "yes" : "");
    },
  };
}

/** Exit codes are those of systemctl: 5 for a unit that is not known, 1 for what fails. */
const script = (dir: string) => `#!/bin/bash
set -u
cd ${dir}
for word in "$@"; do case "$word" in --*) shift ;; *) break ;; esac; done
echo "$*" >> commands
unit=\${2:-}
known() { [ -e "loaded/$unit" ] || [ -e "image/$unit" ]; }
start() {
  [ ! -s "broken/$unit" ] || { echo "Job for $unit failed." >&2; exit 1; }
  cat "image/$unit" "loaded/$unit" "loaded/$unit.d/"* "root/etc/$unit.conf" 2> /dev/null > "running.$$"
  mv "running.$$" "running/$unit"
}
case "$1" in
  daemon-reload) rm -rf loaded; cp -r root/etc/systemd/system loaded ;;
  enable)
    for unit in "\${@:2}"; do known || { echo "Unit file $unit does not exist." >&2; exit 1; }; done
    (cd enabled && touch "\${@:2}") ;;
  disable) rm -f "enabled/$unit" ;;
  restart) known || { echo "Unit $unit not found." >&2; exit 5; }; start ;;
  try-restart) [ ! -e "running/$unit" ] || start ;;
  stop) known || exit 5; rm -f "running/$unit" ;;
  *) echo "Unknown command verb $1." >&2; exit 1 ;;
esac
`;
