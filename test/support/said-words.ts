import { randomUUID } from "node:crypto";
import type { Secret } from "../../src/kube/index.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** The places of this machine where one of the words stands, of gardenadm's journal, the logs of all units and those of pods. */
export async function findWords({ ground, name }: GardenadmMachine, words: readonly string[]): Promise<string[]> {
  const stdin = `${words.join("\n")}\n`;
  const { stdout } = await ground.machines.exec(name, ["bash", "-c", SEARCH], { stdin });
  return stdout.split("\n").filter((line) => line !== "");
}

/** The words come by standard input, so that no process list shows them. */
const SEARCH = `
words=$(mktemp) && cat > "$words"
grep --quiet --fixed-strings --file "$words" /var/lib/gardenadm/journal && echo journal
journalctl --no-pager --output cat | grep --quiet --fixed-strings --file "$words" && echo units
grep --files-with-matches --recursive --fixed-strings --file "$words" /var/log/pods
rm "$words"
`;

/** A line out of the middle of each private key and token, in PEM and in base64 of it; and the key with which etcd encrypts. */
export function hiddenWords({ data = {} }: Secret): string[] {
  const keys = Object.entries(data).filter(([name]) => /key$|id_rsa$|token-secret$|^secret$/i.test(name));
  return keys.flatMap(([, value]) => {
    const text = Buffer.from(value, "base64").toString();
    const lines = text.split("\n");
    return [value.slice(100, 160), lines[2] ?? "", lines.length === 1 ? text : ""].filter((word) => word.length > 15);
  });
}

/** Notes what process lists show on a machine until it is stopped; answers with it. */
export function recordProcesses({ ground, name }: GardenadmMachine): { stop(): Promise<string> } {
  const end = `/run/${randomUUID()}`;
  const running = ground.machines.exec(name, ["bash", "-c", RECORD, "record", end]);
  return {
    async stop() {
      await ground.inMachine(name, "touch", end);
      return (await running).stdout;
    },
  };
}

const RECORD = `while [ ! -e "$1" ]; do ps -eww -o args; sleep 0.2; done | sort --unique`;
