//! The tables of the sample shop and the statements that fill them.

use super::{ARCHIVED, CUSTOMERS, ORDERS};

/// One statement of a load.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) sql: String,
    /// How many rows it makes.
    pub(super) rows: u64,
}

/// Rows of one INSERT: about half a second, so that the bar moves.
const CHUNK: u64 = 50_000;

/// CRC32 as a fraction of 1; a double, for divisions of integers are slow decimals.
const UNIT: &str = "2.3283064365386963e-10";

/// The seconds of four years.
const FOUR_YEARS: &str = "1.262304e8";

/// Created without the secondary keys: added at the end they cost 3 s instead of 9 s for a million orders (sorted
/// build; MariaDB 10.11 on a busy machine, server CPU). MariaDB's bulk insert (unique_checks=0) was slower still.
pub(super) const TABLES: [&str; 3] = [
    "CREATE TABLE shop.customers (id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(80) NOT NULL, \
     email VARCHAR(120) NOT NULL, city VARCHAR(40) NOT NULL, country CHAR(2) NOT NULL, \
     created_at DATETIME NOT NULL, PRIMARY KEY (id)) ENGINE=InnoDB",
    "CREATE TABLE shop.orders (id INT UNSIGNED NOT NULL AUTO_INCREMENT, customer_id INT UNSIGNED NOT NULL, \
     created_at DATETIME NOT NULL, status VARCHAR(12) NOT NULL, items TINYINT UNSIGNED NOT NULL, \
     amount DECIMAL(10,2) NOT NULL, note VARCHAR(200) NULL, PRIMARY KEY (id)) ENGINE=InnoDB",
    "CREATE TABLE shop.orders_archive LIKE shop.orders",
];

const ORDER_KEYS: &str = "ADD KEY customer_id (customer_id, created_at), ADD KEY created_at (created_at)";

/// The newer orders, 2022 to 2025, the numbers go on where the archive's end. 40,000 customers are there from the
/// beginning, the others come over the years.
pub(super) fn orders() -> Vec<Step> {
    let orders = Orders {
        table: "orders",
        first: ARCHIVED,
        rows: ORDERS,
        start: "2022-01-01",
        old: "4e4",
        new: "6e4",
        open: 15_000,
    };
    orders.steps()
}

/// Customers, and the orders of 2018 to 2021.
pub(super) fn others() -> Vec<Step> {
    let archive = Orders {
        table: "orders_archive",
        first: 0,
        rows: ARCHIVED,
        start: "2018-01-01",
        old: "0e0",
        new: "4e4",
        open: 0,
    };
    let mut steps = customers();
    steps.extend(archive.steps());
    steps
}

struct Orders {
    table: &'static str,
    /// The number before the first row's.
    first: u64,
    rows: u64,
    start: &'static str,
    /// Customers at the start, and how many more at the end.
    old: &'static str,
    new: &'static str,
    /// How many of the newest are still on their way.
    open: u64,
}

impl Orders {
    fn steps(&self) -> Vec<Step> {
        let Self { table, .. } = self;
        let mut steps: Vec<Step> = chunks(self.rows).map(|(from, to)| self.chunk(from, to)).collect();
        steps.push(Step { sql: format!("ALTER TABLE shop.{table} {ORDER_KEYS}"), rows: 0 });
        steps
    }

    /// Time goes as the 0.7th power of the number, so that business grows; the number's jitter lets neighbours
    /// overtake each other. Few customers order much: the square of the draw.
    fn chunk(&self, from: u64, to: u64) -> Step {
        let Self { table, first, rows, start, old, new, open } = self;
        #[expect(clippy::cast_precision_loss, reason = "row numbers are far below 2^52")]
        let step = 1.0 / (*rows + 401) as f64;
        let closed = rows - open;
        let sql = format!(
            "INSERT INTO shop.{table} (id, customer_id, created_at, status, items, amount, note) \
             SELECT {first} + seq, \
             1 + FLOOR(a * a * ({old} + {new} * {step:e} * seq)), \
             '{start}' + INTERVAL FLOOR({FOUR_YEARS} * POW((seq + 4e2 * b) * {step:e}, 7e-1)) SECOND, \
             IF(seq <= {closed}, ELT(1 + (c >> 8) % 12, 'delivered', 'delivered', 'delivered', 'delivered', \
             'delivered', 'delivered', 'delivered', 'delivered', 'delivered', 'delivered', 'returned', 'cancelled'), \
             ELT(1 + (c >> 8) % 3, 'new', 'paid', 'shipped')), \
             1 + (c >> 3) % 5, \
             ROUND(4.9e0 + 2e2 * b * b * b + 19 * (c & 7), 2), \
             ELT(1 + (c >> 11) % 50, 'Please leave it with the neighbour', 'Gift: no invoice in the parcel', \
             'Ring twice', 'Deliver after 6 pm', 'Fragile', 'Second attempt: nobody was at home') \
             FROM (SELECT seq, CRC32(seq + {first}) * {UNIT} AS a, CRC32(seq + {first} + 5000000) * {UNIT} AS b, \
             CRC32(seq + {first} + 9000000) AS c FROM seq_{from}_to_{to}) AS s"
        );
        Step { sql: format!("USE shop; {sql}"), rows: to - from + 1 }
    }
}

const FIRST_NAMES: &str = "'Anna', 'Ben', 'Clara', 'David', 'Emma', 'Felix', 'Grace', 'Hugo', 'Ines', 'Jonas', \
     'Karin', 'Liam', 'Marta', 'Nils', 'Olivia', 'Pablo', 'Quentin', 'Rosa', 'Samuel', 'Tereza', 'Umberto', 'Vera', \
     'Wendy', 'Xavier', 'Yara', 'Zeno', 'Aisha', 'Bruno', 'Chiara', 'Dmitri', 'Elin', 'Farid', 'Greta'";
const LAST_NAMES: &str = "'Almeida', 'Bauer', 'Costa', 'Dubois', 'Eriksson', 'Fischer', 'Garcia', 'Horvat', \
     'Ivanova', 'Jensen', 'Keller', 'Lindqvist', 'Moretti', 'Novak', 'Okafor', 'Petrov', 'Quinn', 'Rossi', 'Schmidt', \
     'Tanaka', 'Ueda', 'Varga', 'Weber', 'Xu', 'Yilmaz', 'Zimmermann', 'Andersen', 'Brown', 'Clarke', 'Dvorak', \
     'Evans', 'Ferrari', 'Gruber', 'Hansen', 'Iversen', 'Johansson', 'Kowalski', 'Laurent', 'Murphy', 'Nagy', 'Olsen'";
const CITIES: &str = "'Berlin', 'Hamburg', 'München', 'Köln', 'Wien', 'Graz', 'Zürich', 'Genève', 'Paris', 'Lyon', \
     'Marseille', 'Madrid', 'Málaga', 'Lisboa', 'Porto', 'Milano', 'Torino', 'Roma', 'Warszawa', 'Kraków', 'Praha', \
     'Brno', 'København', 'Stockholm', 'Göteborg', 'Oslo', 'London', 'Leeds', 'Dublin', 'Amsterdam', 'Utrecht'";
const COUNTRIES: &str = "'DE', 'DE', 'DE', 'DE', 'AT', 'AT', 'CH', 'CH', 'FR', 'FR', 'FR', 'ES', 'ES', 'PT', 'PT', \
     'IT', 'IT', 'IT', 'PL', 'PL', 'CZ', 'CZ', 'DK', 'SE', 'SE', 'NO', 'GB', 'GB', 'IE', 'NL', 'NL'";

/// Nobody orders before being a customer: both times follow the same curve.
fn customers() -> Vec<Step> {
    let mut steps: Vec<Step> = chunks(CUSTOMERS)
        .map(|(from, to)| {
            let sql = format!(
                "USE shop; INSERT INTO customers (id, name, email, city, country, created_at) \
                 SELECT seq, CONCAT(first, ' ', last), \
                 LOWER(CONCAT(first, '.', last, seq, ELT(1 + (c & 3), '@example.com', '@example.org', '@example.net', \
                 '@mail.example'))), city, country, \
                 IF(seq <= 40000, '2017-12-25' + INTERVAL FLOOR({FOUR_YEARS} * POW(seq * 2.5e-5, 7e-1)) SECOND, \
                 '2021-12-25' + INTERVAL FLOOR({FOUR_YEARS} * POW((seq - 40000) * 1.6666e-5, 7e-1)) SECOND) \
                 FROM (SELECT seq, c, ELT(1 + (c >> 4) % 33, {FIRST_NAMES}) AS first, \
                 ELT(1 + (c >> 10) % 41, {LAST_NAMES}) AS last, ELT(1 + (c >> 16) % 31, {CITIES}) AS city, \
                 ELT(1 + (c >> 16) % 31, {COUNTRIES}) AS country \
                 FROM (SELECT seq, CRC32(seq + 3000000) AS c FROM seq_{from}_to_{to}) AS s) AS t"
            );
            Step { sql, rows: to - from + 1 }
        })
        .collect();
    let keys = "ALTER TABLE shop.customers ADD UNIQUE KEY email (email), ADD KEY city (city), \
                ADD KEY created_at (created_at)";
    steps.push(Step { sql: keys.to_owned(), rows: 0 });
    steps
}

fn chunks(rows: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..rows.div_ceil(CHUNK)).map(move |chunk| (chunk * CHUNK + 1, ((chunk + 1) * CHUNK).min(rows)))
}
