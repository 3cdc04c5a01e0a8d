//! Random queries over derived tables.

use super::schema::COLUMNS;
use super::{Promise, Random, SortKey, Statement};

/// A column of the derived table.
#[derive(Clone)]
struct Inner {
    /// As the outer query names it.
    name: String,
    /// Its text in the derived table's list.
    text: String,
    /// The base column, where it is one as it is.
    plain: Option<usize>,
}

pub(super) fn statement(random: &mut Random) -> Statement {
    let table = *random.pick(&["g1", "g2"]);
    let alias = *random.pick(&["", " AS q", " q"]);
    let qualifier = if alias.is_empty() { table } else { "q" };
    let star = random.chance(15);
    let inner = if star { all() } else { list(random, qualifier) };
    let inner_list = if star { "*".to_owned() } else { texts(&inner) };
    let from = match random.below(6) {
        0 if !star => format!("{table}{alias} LEFT JOIN look ON look.g_id = {qualifier}.n AND look.v > 2"),
        _ => format!("{table}{alias}"),
    };
    let joined = from.contains("JOIN");
    let condition = condition(random, &format!("{qualifier}."));
    let tail = match random.below(30) {
        0 => " GROUP BY 1",
        1 => " ORDER BY 1 LIMIT 5",
        _ => "",
    };
    let distinct = if random.chance(4) { "DISTINCT " } else { "" };
    let derived = format!("(SELECT {distinct}{inner_list} FROM {from}{condition}{tail})");

    let (outer_list, outputs) = outer(random, &inner);
    let outer_condition = outer_condition(random, &inner);
    let (order, keys) = order(random, &inner, &outputs);
    let limited = random.chance(25) && !joined;
    let limit = match (limited, random.chance(50)) {
        (false, _) => String::new(),
        (true, false) => format!(" LIMIT {}", random.below(20)),
        (true, true) => format!(" LIMIT {}, {}", random.below(10), random.below(20)),
    };
    let sql = format!("SELECT {outer_list} FROM {derived} AS a{outer_condition}{order}{limit}");
    // A rule may only touch a limited one when its order is total.
    let promise = if limited { Promise::Total } else { Promise::Keys(keys) };
    Statement { sql, promise }
}

fn all() -> Vec<Inner> {
    let plain = |(index, column): (usize, &super::schema::Column)| Inner {
        name: column.name.to_owned(),
        text: column.name.to_owned(),
        plain: Some(index),
    };
    COLUMNS.iter().enumerate().map(plain).collect()
}

fn texts(inner: &[Inner]) -> String {
    inner.iter().map(|column| column.text.clone()).collect::<Vec<_>>().join(", ")
}

const COMPUTED: [&str; 7] = [
    "n + 1",
    "d / 3",
    "CONCAT(s, '-', bin)",
    "'fixed'",
    "(SELECT COUNT(*) FROM look l WHERE l.g_id = Q.id)",
    "(SELECT MAX(l.v) FROM look l WHERE l.g_id = Q.n)",
    "CASE WHEN n > 1 THEN s ELSE NULL END",
];

fn list(random: &mut Random, qualifier: &str) -> Vec<Inner> {
    let mut list: Vec<Inner> = Vec::new();
    let names = ["id", "n", "s", "d", "x", "y", "z", "bin", "ts"];
    for _ in 0..1 + random.below(5) {
        let column = random.below(COLUMNS.len());
        let own = COLUMNS.get(column).map_or("id", |column| column.name);
        let computed = random.chance(25);
        let name =
            if computed || random.chance(40) { (*random.pick(&names)).to_owned() } else { own.to_owned() };
        if list.iter().any(|other| other.name == name) {
            continue;
        }
        let (value, plain) = if computed {
            (random.pick(&COMPUTED).replace("Q.", &format!("{qualifier}.")), None)
        } else {
            // In a join with `look` the bare id would be ambiguous.
            (format!("{qualifier}.{own}"), Some(column))
        };
        let value = match random.chance(30) && own != "id" {
            true => value.replacen(&format!("{qualifier}.{own}"), own, 1),
            false => value,
        };
        let text = if name == own && !computed { value } else { format!("{value} AS {name}") };
        list.push(Inner { name, text, plain });
    }
    list
}

fn condition(random: &mut Random, qualifier: &str) -> String {
    if random.chance(50) {
        return String::new();
    }
    let mut parts = Vec::new();
    for _ in 0..=random.below(2) {
        let column = random.pick(COLUMNS);
        let operator = *random.pick(&["<", ">=", "=", "<>"]);
        parts.push(format!("{qualifier}{} {operator} {}", column.name, random.pick(column.literals)));
    }
    format!(" WHERE {}", parts.join(*random.pick(&[" AND ", " OR "])))
}

/// The outer list, and for each output column its name and the derived column that it is.
fn outer(random: &mut Random, inner: &[Inner]) -> (String, Vec<(String, Option<usize>)>) {
    let whole = |inner: &[Inner]| {
        inner.iter().enumerate().map(|(at, column)| (column.name.clone(), Some(at))).collect::<Vec<_>>()
    };
    match random.below(5) {
        0 => return ("*".to_owned(), whole(inner)),
        1 => return ("a.*".to_owned(), whole(inner)),
        _ => {}
    }
    let mut texts = Vec::new();
    let mut outputs = Vec::new();
    for _ in 0..1 + random.below(4) {
        let at = random.below(inner.len());
        let Some(column) = inner.get(at) else { continue };
        let reference = refer(random, &column.name);
        match random.below(8) {
            0 => {
                let alias = *random.pick(&["id", "n", "x", "w"]);
                texts.push(format!("{reference} AS {alias}"));
                outputs.push((alias.to_owned(), Some(at)));
            }
            1 => {
                texts.push(format!("COALESCE({reference}, 7) AS w{at}"));
                outputs.push((format!("w{at}"), None));
            }
            _ => {
                texts.push(reference);
                outputs.push((column.name.clone(), Some(at)));
            }
        }
    }
    (texts.join(", "), outputs)
}

fn refer(random: &mut Random, name: &str) -> String {
    match random.below(4) {
        0 => name.to_owned(),
        1 => format!("`a`.`{name}`"),
        _ => format!("a.{name}"),
    }
}

fn outer_condition(random: &mut Random, inner: &[Inner]) -> String {
    if random.chance(40) {
        return String::new();
    }
    let column = random.pick(inner);
    let reference = refer(random, &column.name);
    let literals =
        column.plain.and_then(|at| COLUMNS.get(at)).map_or(&["1", "'ann'"][..], |column| column.literals);
    let (one, two) = (*random.pick(literals), *random.pick(literals));
    let text = match random.below(5) {
        0 => format!("{reference} IS NOT NULL"),
        1 => format!("{reference} IN ({one}, {two})"),
        2 => format!("{reference} BETWEEN {one} AND {two} OR NOT {reference} = {one}"),
        3 => format!("COALESCE({reference}, {one}) <> {two} AND {reference} >= {one}"),
        _ => format!("{reference} = {one} OR {reference} > {two}"),
    };
    format!(" WHERE {text}")
}

fn order(
    random: &mut Random,
    inner: &[Inner],
    outputs: &[(String, Option<usize>)],
) -> (String, Vec<SortKey>) {
    let mut texts = Vec::new();
    let mut keys = Vec::new();
    let mut known = true;
    for _ in 0..random.below(4) {
        let direction = *random.pick(&["", " DESC"]);
        let base = |at: Option<usize>| at.and_then(|at| inner.get(at)).and_then(|column| column.plain);
        if random.chance(60) {
            let column = random.below(outputs.len());
            let Some((name, at)) = outputs.get(column) else { continue };
            let by_position = random.chance(30);
            texts.push(if by_position {
                format!("{}{direction}", column + 1)
            } else {
                format!("{name}{direction}")
            });
            // ENUM sorts by index and computed values by rules of their own: what follows is not checked.
            match base(*at).and_then(|at| COLUMNS.get(at)) {
                Some(base) if known && base.name != "e" => keys.push(SortKey { column, folded: base.folded }),
                _ => known = false,
            }
        } else {
            let column = random.pick(inner);
            texts.push(format!("a.{}{direction}", column.name));
            known = false;
        }
    }
    if texts.is_empty() { (String::new(), keys) } else { (format!(" ORDER BY {}", texts.join(", ")), keys) }
}
