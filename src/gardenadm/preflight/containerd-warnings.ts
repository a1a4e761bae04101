import { PAUSE_IMAGE } from "../../components/index.ts";
import type { Run } from "../../node-agent/commands.ts";
import { answerOf } from "./answer.ts";

/** A containerd: the first number of its version, if it says one, its configuration without comments, and its client. */
export interface FoundContainerd {
  readonly major: number | undefined;
  readonly configuration: string;
  readonly ctr: Run;
}

/**
 * What will be felt when pods begin, because containerd does by itself what its configuration does not say. Nothing where that has
 * parts in other files, which may say it.
 */
export async function containerdWarnings(found: FoundContainerd, cgroupDriver: string): Promise<string[]> {
  if (/^\s*imports\s*=\s*\[\s*["']/m.test(found.configuration)) return [];
  return [...cgroupWarnings(found, cgroupDriver), ...(await sandboxWarnings(found))];
}

const RESTART = "and run 'systemctl restart containerd'";

function cgroupWarnings({ major, configuration }: FoundContainerd, cgroupDriver: string): string[] {
  if (major !== 1 || cgroupDriver !== "systemd" || /^\s*SystemdCgroup\s*=/m.test(configuration)) return [];
  return [
    `containerd makes cgroups of its own, and the kubelet's are systemd's: write SystemdCgroup = true into the options of runtime runc in its configuration, ${RESTART}`,
  ];
}

/** That each pod begins with an image that is not there, though the machine was given the one that is meant for it. */
async function sandboxWarnings({ major, configuration, ctr }: FoundContainerd): Promise<string[]> {
  const [, named] = /^\s*sandbox(?:_image)?\s*=\s*["']([^"']+)["']/m.exec(configuration) ?? [];
  const { text } = await answerOf(ctr, ["images", "list", "--quiet"], "no images");
  const pauses = text.split("\n").filter((image) => image.includes("/pause:"));
  // Of itself, no containerd 1 begins pods with that of ours; what a later one does is not known here.
  const isThere = named === undefined ? major !== 1 || pauses.length !== 1 : pauses.includes(named);
  if (!pauses.includes(PAUSE_IMAGE) || isThere) return [];
  return [
    `containerd begins each pod with ${named ?? "a pause image of its own choice"}, which it has to download, and ${PAUSE_IMAGE} is there: name that in its configuration, ${RESTART}`,
  ];
}
