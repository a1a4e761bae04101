/** Like Promise.all, but what is under way is over before the first failure is thrown: nothing goes on behind an error. */
export async function settleAll<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return await Promise.all(work);
}
