import { formatDuration } from "../display/time.ts";

/** Seconds for which a Shoot's API server is away when its etcd is small: stop, snapshot, copy, start. Measured: bench/README.md. */
const SMALL_ETCD = 30;

/** Seconds more for each GB of etcd. */
const EACH_GB = 15;

/** How long a Shoot's API server will be away, as a sentence, from the size of its etcd's last snapshot in bytes. */
export function describeDowntime(bytes: number | undefined): string {
  if (bytes === undefined)
    return `The API server would be away for about ${SMALL_ETCD}s, and ${EACH_GB}s more for each GB of etcd; how much it holds is not known here.`;
  const expected = (SMALL_ETCD + (EACH_GB * bytes) / 1e9) * 1000;
  return `The API server would be away for about ${formatDuration(expected)}: etcd's last snapshot has ${formatBytes(bytes)}.`;
}

function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}
