/** The time of the processor that this thread spends until the work is done, in ms: what else the machine does counts less than by a clock. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
