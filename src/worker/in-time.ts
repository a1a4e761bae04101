/** The result of the work, if it is there within so many ms; else throws the error. */
export async function inTime<T>(work: Promise<T>, timeout: number, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), timeout);
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
