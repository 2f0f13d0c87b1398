/**
 * Whether a process runs, also if it belongs to another user.
 * @param pid its number in this process's namespace
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
