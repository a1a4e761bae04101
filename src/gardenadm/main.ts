import { ADMIN_KUBECONFIG } from "../api/names.ts";
import { runProcess } from "../cli/process.ts";
import { createContext } from "./connection.ts";
import { gardenadm } from "./gardenadm.ts";

await runProcess(gardenadm, (deps) =>
  createContext({ ...deps, variables: process.env, adminKubeconfig: ADMIN_KUBECONFIG, input: process.stdin }),
);
