import { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";

/** A map held in memory whose every change is written through to a table. Iterates in order of first insertion. */
export interface Table<V> {
  readonly size: number;
  get(id: string): V | undefined;
  has(id: string): boolean;
  set(id: string, value: V): void;
  /** Whether there was such an entry. */
  delete(id: string): boolean;
  entries(): IterableIterator<[string, V]>;
  values(): IterableIterator<V>;
}

/** Durable tables in one SQLite file. */
export interface Store {
  /** The table of that name with what it holds. Values must be structured-cloneable. */
  table<V>(name: string): Table<V>;
  /** Runs `work` so that all its changes reach the file, or none. Not nestable. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens `file` (or `:memory:`). A change is safe from a kill of this process as soon as the call returns; from a power
 * cut only after the next checkpoint.
 */
export function openStore(file: string): Store {
  const db = new DatabaseSync(file);
  db.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000");

  function table<V>(name: string): Table<V> {
    db.exec(
      `create table if not exists "${name}" (seq integer primary key, id text not null unique, value blob not null)`,
    );
    const upsert = db.prepare(
      `insert into "${name}" (id, value) values (?, ?) on conflict (id) do update set value = excluded.value`,
    );
    const remove = db.prepare(`delete from "${name}" where id = ?`);
    const rows = db.prepare(`select id, value from "${name}" order by seq`).all() as {
      id: string;
      value: Uint8Array;
    }[];
    const map = new Map(rows.map(({ id, value }) => [id, deserialize(value) as V]));
    return {
      get size() {
        return map.size;
      },
      get: (id) => map.get(id),
      has: (id) => map.has(id),
      set(id, value) {
        upsert.run(id, serialize(value));
        map.set(id, value);
      },
      delete(id) {
        if (!map.has(id)) return false;
        remove.run(id);
        return map.delete(id);
      },
      entries: () => map.entries(),
      values: () => map.values(),
    };
  }

  return {
    table,
    transaction(work) {
      db.exec("begin immediate");
      try {
        const result = work();
        db.exec("commit");
        return result;
      } catch (error) {
        db.exec("rollback");
        throw error;
      }
    },
    close: () => db.close(),
  };
}
