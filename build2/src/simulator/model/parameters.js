/** Parameters that need a restart (PostgreSQL, context `postmaster`), with their defaults. */
const restartDefaults = new Map([
    ["archive_mode", "off"],
    ["hot_standby", "on"],
    ["huge_pages", "try"],
    ["max_connections", "100"],
    ["max_files_per_process", "1000"],
    ["max_locks_per_transaction", "64"],
    ["max_prepared_transactions", "0"],
    ["max_replication_slots", "10"],
    ["max_wal_senders", "10"],
    ["max_worker_processes", "8"],
    ["shared_buffers", "128MB"],
    ["shared_preload_libraries", ""],
    ["track_commit_timestamp", "off"],
    ["wal_buffers", "-1"],
    ["wal_level", "replica"],
    ["wal_log_hints", "on"],
]);
/** Returns the parameters that need a restart: those whose current value differs from the configured one. */
export function pendingParameters(inForce, configured) {
    const pending = new Map();
    for (const [name, fallback] of restartDefaults) {
        const oldValue = inForce.get(name) ?? fallback;
        const newValue = configured.get(name) ?? fallback;
        if (oldValue !== newValue)
            pending.set(name, { old_value: oldValue, new_value: newValue });
    }
    return pending;
}
//# sourceMappingURL=parameters.js.map