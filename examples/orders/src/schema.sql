CREATE TABLE IF NOT EXISTS customers (
    number INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE
);

CREATE TABLE IF NOT EXISTS items (
    name TEXT PRIMARY KEY,
    cents INTEGER NOT NULL,
    stock INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS orders (
    number INTEGER PRIMARY KEY,
    -- Checked when the transaction commits.
    customer INTEGER NOT NULL REFERENCES customers (number) DEFERRABLE INITIALLY DEFERRED,
    item TEXT NOT NULL REFERENCES items (name),
    quantity INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    audit TEXT NOT NULL DEFAULT ''
);

INSERT OR IGNORE INTO customers VALUES (1, 'ada@example.com'), (2, 'bob@example.com');
INSERT OR IGNORE INTO items VALUES ('tea', 450, 1000), ('kettle', 8900, 30);
