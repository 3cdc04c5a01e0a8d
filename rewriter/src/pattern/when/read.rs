//! Reads a guard: `name($x, $y)`, then `= word`, `in (word, word)`, `>= number`, `!= literal($y)` where the guard takes it.

use sql::catalog::{BaseType, ColumnType};
use sql::{Shape, SqlMode};

use super::{Check, Kind, When};

/// What guards there are, for messages.
const KNOWN: &str = "column, indexed, not_null, type, signed, collation, same_type, constant, literal, fits, length, sql_mode, \
                     base_table, member, no_alias";

/// Reads one guard.
pub(crate) fn read(text: &str) -> Result<When, String> {
    let call = Call::parse(text).ok_or_else(|| {
        format!(
            "`{text}` is no guard: expected name($x), name($x) in (a, b) or name($x) >= 5; known are {KNOWN}"
        )
    })?;
    let mut check = check(text, &call)?;
    if call.negated {
        match &mut check {
            Check::Mode(_, wanted) => *wanted = false,
            _ => return Err(format!("`{text}`: `not` stands before sql_mode(…) only")),
        }
    }
    Ok(When { text: text.trim().to_owned(), check })
}

/// A guard's parts as they stand.
struct Call<'t> {
    negated: bool,
    name: &'t str,
    arguments: Vec<&'t str>,
    /// The operator behind it, with its operand.
    compared: Option<(&'t str, &'t str)>,
}

impl<'t> Call<'t> {
    fn parse(text: &'t str) -> Option<Call<'t>> {
        let text = text.trim();
        let (text, negated) = match text.strip_prefix("not ") {
            Some(rest) => (rest.trim_start(), true),
            None => (text, false),
        };
        let (name, rest) = text.split_once('(')?;
        let (arguments, rest) = rest.split_once(')')?;
        let rest = rest.trim();
        let compared = match rest {
            "" => None,
            rest => {
                let operators = ["in", "between", ">=", "<=", "!=", "=", ">", "<"];
                let operator = operators.into_iter().find(|operator| rest.starts_with(operator))?;
                Some((operator, rest.strip_prefix(operator)?.trim()))
            }
        };
        let arguments = arguments.split(',').map(str::trim).collect();
        Some(Call { negated, name: name.trim(), arguments, compared })
    }

    fn variable(&self, at: usize) -> Result<String, String> {
        let argument = self.arguments.get(at).copied().unwrap_or_default();
        match argument.strip_prefix('$') {
            Some(name) if !name.trim_start_matches('$').is_empty() => {
                Ok(name.trim_start_matches('$').to_owned())
            }
            _ => Err(format!("`{}` needs a metavariable such as $c, found `{argument}`", self.name)),
        }
    }

    fn variables<const N: usize>(&self) -> Result<[String; N], String> {
        if self.arguments.len() != N {
            return Err(format!("`{}` takes {N} metavariables, found {}", self.name, self.arguments.len()));
        }
        let names: Result<Vec<_>, _> = (0..N).map(|at| self.variable(at)).collect();
        names?.try_into().map_err(|_| format!("`{}` takes {N} metavariables", self.name))
    }

    fn plain<const N: usize>(&self) -> Result<[String; N], String> {
        match self.compared {
            None => self.variables(),
            Some((operator, _)) => {
                Err(format!("`{}` is not compared: nothing stands behind it, found `{operator}`", self.name))
            }
        }
    }

    /// The words behind `=` or `in`.
    fn words(&self) -> Result<Vec<&'t str>, String> {
        match self.compared {
            Some(("=", word)) => Ok(vec![word]),
            Some(("in", list)) => {
                let inner = list.strip_prefix('(').and_then(|list| list.strip_suffix(')'));
                let inner = inner.ok_or_else(|| format!("expected a list such as (a, b), found `{list}`"))?;
                Ok(inner.split(',').map(str::trim).collect())
            }
            _ => Err(format!("`{}` is compared by = or in", self.name)),
        }
    }
}

fn check(text: &str, call: &Call<'_>) -> Result<Check, String> {
    Ok(match call.name {
        "column" => Check::Column(one(call.plain()?)),
        "indexed" => Check::Indexed(one(call.plain()?)),
        "not_null" => Check::NotNull(one(call.plain()?)),
        "signed" => Check::Signed(one(call.plain()?)),
        "constant" => Check::Constant(one(call.plain()?)),
        "base_table" => Check::BaseTable(one(call.plain()?)),
        "same_type" => two(call.plain()?, Check::SameType),
        "fits" => two(call.plain()?, Check::Fits),
        "member" => two(call.plain()?, Check::Member),
        "no_alias" => two(call.plain()?, Check::NoAlias),
        "length" => {
            let other =
                call.compared.filter(|(operator, _)| *operator == "=").and_then(|(_, other)| value_of(other));
            Check::Length(one(call.variables()?), other.ok_or("expected `length($s) = literal($n)`")?)
        }
        "type" => Check::Type(one(call.variables()?), types(&call.words()?)?),
        "collation" => Check::Collation(
            one(call.variables()?),
            call.words()?.into_iter().map(str::to_lowercase).collect(),
        ),
        "literal" => literal(call)?,
        "sql_mode" => {
            let (mode, unknown) = SqlMode::parse(&call.arguments.join(","));
            match unknown || mode.is_empty() {
                true => return Err(format!("`{text}`: expected names of sql_mode such as NO_ZERO_IN_DATE")),
                false => Check::Mode(mode, true),
            }
        }
        other => return Err(format!("the guard `{other}` is not known; known are {KNOWN}")),
    })
}

fn one([name]: [String; 1]) -> String {
    name
}

fn two([a, b]: [String; 2], check: fn(String, String) -> Check) -> Check {
    check(a, b)
}

/// `literal($x)` behind an operator.
fn value_of(text: &str) -> Option<String> {
    Some(text.strip_prefix("literal($")?.strip_suffix(')')?.to_owned())
}

fn literal(call: &Call<'_>) -> Result<Check, String> {
    let name = one(call.variables()?);
    let number = |text: &str| {
        text.replace('_', "").parse::<u64>().map_err(|_| format!("expected a number from 0, found `{text}`"))
    };
    Ok(match call.compared {
        None => Check::Literal(name, None),
        Some((">=", bound)) => Check::Within(name, number(bound)?, u64::MAX),
        Some(("<=", bound)) => Check::Within(name, 0, number(bound)?),
        Some(("between", bounds)) => {
            let (low, high) = bounds.split_once(" and ").ok_or("expected `between 5 and 10`")?;
            Check::Within(name, number(low.trim())?, number(high.trim())?)
        }
        Some(("!=", other)) => Check::Differ(name, value_of(other).ok_or("expected `!= literal($x)`")?),
        Some(("=", word)) => {
            let kind = match word {
                "int" => Kind::Int,
                "text" => Kind::Text,
                "month" => Kind::Shaped(Shape::Month),
                "date" => Kind::Shaped(Shape::Date),
                "datetime" => Kind::Shaped(Shape::DateTime),
                "plain" => Kind::Shaped(Shape::Plain),
                _ => {
                    return Err(format!(
                        "expected int, text, month, date, datetime or plain, found `{word}`"
                    ));
                }
            };
            Check::Literal(name, Some(kind))
        }
        Some((operator, _)) => return Err(format!("a literal is not compared by {operator}")),
    })
}

fn types(words: &[&str]) -> Result<Vec<BaseType>, String> {
    let mut types = Vec::new();
    for word in words {
        match *word {
            "integer" => types.extend([
                BaseType::TinyInt,
                BaseType::SmallInt,
                BaseType::MediumInt,
                BaseType::Int,
                BaseType::BigInt,
            ]),
            word => match ColumnType::parse(word).base {
                BaseType::Other => return Err(format!("the type `{word}` is not known")),
                base => types.push(base),
            },
        }
    }
    Ok(types)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn guards_are_read() {
        assert_eq!(read(" column($c) ").unwrap().check, Check::Column("c".to_owned()));
        assert_eq!(
            read("type($c) in (date, datetime)").unwrap().check,
            Check::Type("c".to_owned(), vec![BaseType::Date, BaseType::DateTime])
        );
        assert_eq!(
            read("literal($m) >= 1_000").unwrap().check,
            Check::Within("m".to_owned(), 1000, u64::MAX)
        );
        assert_eq!(read("literal($y) between 1 and 9").unwrap().check, Check::Within("y".to_owned(), 1, 9));
        assert_eq!(
            read("literal($k) != literal($v)").unwrap().check,
            Check::Differ("k".to_owned(), "v".to_owned())
        );
        assert_eq!(
            read("literal($d) = date").unwrap().check,
            Check::Literal("d".to_owned(), Some(Kind::Shaped(Shape::Date)))
        );
        assert_eq!(
            read("not sql_mode(ALLOW_INVALID_DATES)").unwrap().check,
            Check::Mode(SqlMode::ALLOW_INVALID_DATES, false)
        );
        assert_eq!(
            read("sql_mode(NO_ZERO_IN_DATE)").unwrap().check,
            Check::Mode(SqlMode::NO_ZERO_IN_DATE, true)
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wanted) in [
            ("colum($c)", "the guard `colum` is not known"),
            ("column", "is no guard"),
            ("column(c)", "needs a metavariable"),
            ("column($a, $b)", "takes 1 metavariables, found 2"),
            ("column($c) = x", "is not compared"),
            ("type($c) = strange", "the type `strange` is not known"),
            ("type($c)", "is compared by = or in"),
            ("literal($m) >= x", "expected a number"),
            ("literal($m) = ints", "expected int, text, month"),
            ("sql_mode(NO_SUCH)", "expected names of sql_mode"),
            ("not column($c)", "`not` stands before sql_mode"),
            ("length($s) = 5", "expected `length($s) = literal($n)`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
