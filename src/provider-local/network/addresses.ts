import type { Environment } from "../../local/environment/environment.ts";

/** The half of the environment's network that machines have their addresses from. */
export function machineNetworkOf({ network }: Pick<Environment, "network">): string {
  const [first, second] = network.split(".");
  return `${first}.${second}.0.0/17`;
}

/** The addresses of the other half, for load balancers: x.y.128.1 to x.y.255.254. */
export function* loadBalancerAddresses({ network }: Pick<Environment, "network">): Generator<string> {
  const [first, second] = network.split(".");
  for (let third = 128; third < 256; third++)
    for (let fourth = 1; fourth < 255; fourth++) yield `${first}.${second}.${third}.${fourth}`;
}
