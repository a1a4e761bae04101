/** Throws where machines cannot be made, and `otherWay`, what can be done instead. */
export function requireMachineHost(otherWay?: string): void {
  const [instead, or] = otherWay === undefined ? ["", ""] : [`; ${otherWay}`, `, or ${otherWay}`];
  if (process.platform !== "linux")
    throw new Error(`cannot make machines on ${process.platform}: they are Linux namespaces${instead}`);
  if (process.getuid?.() !== 0) throw new Error(`cannot make machines without root: run it with sudo${or}`);
}
