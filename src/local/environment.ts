/** Everything that is derived from the name of one local environment. */
export interface Environment {
  /** A DNS label; "local" unless told otherwise. */
  readonly name: string;
  /** Where all that must survive a process is kept, such as /var/lib/perennial/local. */
  readonly stateDir: string;
  /** The host's bridge that the machines are plugged into. */
  readonly bridge: string;
  /** The environment's own /16: machines in its lower half, load balancers in its upper half. */
  readonly network: string;
  /** The host's address on the bridge: DNS on port 53 and the garden's and seeds' API servers listen here. */
  readonly gateway: string;
  /** The DNS zone that the environment's DNS server answers for. */
  readonly domain: string;
}
