/** Container of the tunnel's server beside the API server, and Secret with the certificate that agents know it by. */
export const TUNNEL_SERVER = "konnectivity-server";

/** Secret with the kubeconfig by which the server has the API server judge agents' tokens; also its user's name there. */
export const TUNNEL_SERVER_USER = "konnectivity-server-user";

/** Deployment, account and Service of the agents in the Shoot. */
export const TUNNEL_AGENT = "konnectivity-agent";

/** Where agents reach the server: the port of upstream's tunnel, which operators' firewalls know (`control-plane-endpoints-and-ports`). */
export const TUNNEL_PORT = 8132;

/** Where both ends say whether they are well, and agents whether they have a server. */
export const HEALTH_PORT = 8134;

/** What an agent's token has to be for: one that is for the API server opens no tunnel. */
export const TUNNEL_AUDIENCE = "system:konnectivity-server";
