import { createSocket } from "node:dgram";
import { hostname, networkInterfaces } from "node:os";
import { createCtr, createSystemctl, type Run } from "../../node-agent/commands.ts";

/** The machine that gardenadm runs on. */
export interface ThisMachine {
  /** The folder that is its `/`. */
  readonly root: string;
  readonly hostName: string;
  /** IP addresses; by the first of them, other machines reach it. */
  readonly addresses: readonly [string, ...string[]];
  readonly systemctl: Run;
  /** In the containerd namespace of kubelets. */
  readonly ctr: Run;
}

/** Looks at this machine; throws where it has no address but that of its loopback. */
export async function findThisMachine(): Promise<ThisMachine> {
  const address = await outwardAddress();
  if (address === undefined)
    throw new Error("this machine has no IPv4 address but that of its loopback: connect it to a network");
  return {
    root: "/",
    hostName: hostname(),
    addresses: [address],
    systemctl: createSystemctl(),
    ctr: createCtr({ namespace: "k8s.io" }),
  };
}

/** The address from which a packet to elsewhere would leave, without sending one; else the first that is not internal. */
async function outwardAddress(): Promise<string | undefined> {
  const socket = createSocket("udp4");
  const routed = await new Promise<string | undefined>((resolve) => {
    socket.once("error", () => resolve(undefined));
    socket.connect(9, "192.0.2.1", () => resolve(socket.address().address));
  });
  socket.close();
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return routed ?? all.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}
