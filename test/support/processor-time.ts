/** Returns the CPU time of this thread, in ms, until the work completes. Other load affects it less than wall-clock time. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
