import { isJsonObject } from "../model/json.js";
const words = {
    patroni: {
        product: "patroni",
        database: "postgresql",
        rewind: "use_pg_rewind",
        metric: "patroni_",
        databaseMetric: "patroni_postgres_",
    },
    neutral: { product: "ha", database: "database", rewind: "use_db_rewind", metric: "ha_", databaseMetric: "ha_db_" },
};
/** Returns the names of a vocabulary. */
export function wordsOf(vocabulary) {
    return words[vocabulary];
}
/** Returns a configuration, or a change of one, with its database keys in this vocabulary. Accepts either. */
export function translateConfig(config, vocabulary) {
    const { database, rewind } = words[vocabulary];
    return rename(config, (key, value) => {
        if (key !== "postgresql" && key !== "database")
            return [key, value];
        const inner = isJsonObject(value)
            ? rename(value, (name, item) => [/^use_(?:pg|db)_rewind$/.test(name) ? rewind : name, item])
            : value;
        return [database, inner];
    });
}
function rename(object, renamed) {
    return Object.fromEntries(Object.entries(object).map((entry) => renamed(...entry)));
}
//# sourceMappingURL=vocabulary.js.map