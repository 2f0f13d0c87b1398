/** Why a run does not begin: the status of the answer, a code, and a sentence. */
export interface BeginRefusal {
  readonly status: number;
  readonly error: string;
  readonly message: string;
}

/** @param run the one that runs */
export function alreadyRunning(cluster: string, run: string): BeginRefusal & { readonly run: string } {
  return { ...refused(409, "running", `Cannot begin a switchover of ${cluster}: one is running (${run})`), run };
}

export function refused(status: number, error: string, message: string): BeginRefusal {
  return { status, error, message };
}
