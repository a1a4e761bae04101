/** The phases of `up`, in order. */
export const phases = [
  "packages",
  "binaries",
  "images",
  "network",
  "dns",
  "temporal",
  "garden",
  "seeds",
  "crds",
  "processes",
  "objects",
] as const;

/** One of {@link phases}. */
export type PhaseName = (typeof phases)[number];

/** The phases for clusters that exist already. */
export const existingPhases: readonly PhaseName[] = ["binaries", "temporal", "crds", "processes"];

/** What a phase does, for people. */
export const phaseTitles: Readonly<Record<PhaseName, string>> = {
  packages: "Debian packages",
  binaries: "Kubernetes, etcd and Temporal binaries",
  images: "Images of the control plane",
  network: "Bridge for the machines",
  dns: "DNS server",
  temporal: "Temporal with its UI",
  garden: "Garden cluster",
  seeds: "Seed clusters",
  crds: "Resource definitions, policies and roles",
  objects: "Seeds, cloud profile and project",
  processes: "Manager, workers and the local provider",
};

/** What is told while `up` works: a phase began, does something in particular, or is done. */
export interface PhaseProgress {
  readonly phase: PhaseName;
  readonly state: "begun" | "working" | "done";
  readonly detail?: string;
  /** Milliseconds since the phase began. */
  readonly elapsed: number;
}

/** How long a phase took, in milliseconds. */
export interface PhaseTime {
  readonly phase: PhaseName;
  readonly elapsed: number;
}

/** Runs phases one after the other, tells of them, and stops between two when `signal` says so. */
export function createPhases(onProgress: (progress: PhaseProgress) => void, signal: AbortSignal | undefined) {
  const times: PhaseTime[] = [];
  const run = async <T>(phase: PhaseName, work: (tell: (detail: string) => void) => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    const begin = performance.now();
    const elapsed = () => Math.round(performance.now() - begin);
    onProgress({ phase, state: "begun", elapsed: 0 });
    const result = await work((detail) => onProgress({ phase, state: "working", detail, elapsed: elapsed() }));
    times.push({ phase, elapsed: elapsed() });
    onProgress({ phase, state: "done", elapsed: elapsed() });
    return result;
  };
  return { run, times };
}
