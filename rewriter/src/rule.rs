//! What a rule is once its file has been read.

use std::fmt;
use std::sync::Arc;

use sql::source::Span;
use sql::{Product, Version};

use crate::passes::Pass;

/// A rule's name, unique among all loaded files: `union-limit`, `paging.deferred-join`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(Arc<str>);

impl RuleId {
    /// An id of that text.
    pub fn new(text: &str) -> RuleId {
        RuleId(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a rule may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Not looked at.
    Disabled,
    /// Tried when somebody asks for an explanation; never touches what is served.
    Explain,
    /// Like `Explain` here: running beside the original is the shadow's work, which this version does not have.
    Shadow,
    /// Rewrites what is served.
    Enabled,
}

impl Mode {
    /// The word in a rule file.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Disabled => "disabled",
            Mode::Explain => "explain",
            Mode::Shadow => "shadow",
            Mode::Enabled => "enabled",
        }
    }
}

/// What a rule's rewriting keeps, columns and types apart, which are always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The same rows in the same order.
    SameOrder,
    /// The same rows; the order is free where the original leaves it free.
    SameRows,
    /// Other rows by policy.
    Lossy,
}

impl Effect {
    /// The word in a rule file.
    pub fn name(self) -> &'static str {
        match self {
            Effect::SameOrder => "same_order",
            Effect::SameRows => "same_rows",
            Effect::Lossy => "lossy",
        }
    }
}

/// How a version is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `>=`
    AtLeast,
    /// `<`
    Below,
}

/// `mariadb`, `mysql >= 8.0.19`, `mariadb >= 10.6 < 11`: one product, every comparison true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerScope {
    /// The product.
    pub product: Product,
    /// What must hold of its version.
    pub versions: Vec<(Compare, Version)>,
}

impl fmt::Display for ServerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.product {
            Product::MariaDb => "mariadb",
            Product::MySql => "mysql",
        })?;
        for (compare, Version(major, minor, patch)) in &self.versions {
            let sign = match compare {
                Compare::AtLeast => ">=",
                Compare::Below => "<",
            };
            write!(f, " {sign} {major}.{minor}")?;
            if *patch > 0 {
                write!(f, ".{patch}")?;
            }
        }
        Ok(())
    }
}

impl ServerScope {
    /// Whether a server is meant.
    pub fn covers(&self, product: Product, version: Version) -> bool {
        self.product == product
            && self.versions.iter().all(|(compare, bound)| match compare {
                Compare::AtLeast => version >= *bound,
                Compare::Below => version < *bound,
            })
    }

    /// Reads the text of a rule file. `Err` says what is wrong with it.
    pub fn parse(text: &str) -> Result<ServerScope, String> {
        let mut words = text.split_whitespace();
        let product = match words.next() {
            Some("mariadb") => Product::MariaDb,
            Some("mysql") => Product::MySql,
            _ => return Err(format!("expected mariadb or mysql, found `{text}`")),
        };
        let mut versions = Vec::new();
        while let Some(word) = words.next() {
            let compare = match word {
                ">=" => Compare::AtLeast,
                "<" => Compare::Below,
                _ => return Err(format!("expected >= or < before a version, found `{word}`")),
            };
            let bound = words.next().and_then(version);
            let bound =
                bound.ok_or_else(|| format!("expected a version such as 10.6 or 8.0.19 after {word}"))?;
            versions.push((compare, bound));
        }
        Ok(ServerScope { product, versions })
    }
}

fn version(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    let patch = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    parts.next().is_none().then_some(Version(major, minor, patch))
}

/// Where a rule applies. An empty list means everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Servers, any of them.
    pub servers: Vec<ServerScope>,
    /// Names of the session's schema, any of them.
    pub schemas: Vec<String>,
    /// Names of the session's user, any of them.
    pub users: Vec<String>,
}

/// What the rule's own test expects of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expect {
    /// The rule fires.
    Rewritten,
    /// The rule does not: a near miss.
    Unchanged,
}

/// One statement of a rule's own tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTest {
    /// The statement, over the tables of the rule's `given`.
    pub sql: String,
    /// What becomes of it.
    pub expect: Expect,
    /// Where it stands in the rule's file.
    pub span: Span,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// What it does, and why it is slow without: for people.
    pub about: Option<String>,
    /// How far it may go.
    pub mode: Mode,
    /// What it does.
    pub pass: Pass,
    /// Where it applies.
    pub scope: Scope,
    /// Higher ones are tried first; equal ones in order of their ids.
    pub priority: i32,
    /// What it keeps.
    pub effect: Effect,
    /// `CREATE TABLE` statements for the tests.
    pub given: Vec<String>,
    /// Its own tests; an enabled rule has a near miss among them.
    pub tests: Vec<RuleTest>,
    /// The file that it came from.
    pub file: Arc<str>,
    /// Where in that file.
    pub span: Span,
}

#[cfg(test)]
mod tests;
