//! Proves guards from the catalog, the session and the statement's literals.

use sql::catalog::{BaseType, Column};
use sql::digest::LiteralKind;
use sql::facts::Purity;
use sql::{Precondition, Shape, UnitKind};

use super::{Check, Kind, When};
use crate::guard::{Guard, Refusal, Subject};
use crate::pattern::matching::{Bindings, alike};
use crate::scope::{Scope, Visible, same_type};
use crate::shape::node::{Node, Tag};
use crate::shape::{Reference, names_equal};

/// What guards are proven from.
pub(in crate::pattern) struct Facts<'a> {
    pub(in crate::pattern) subject: &'a Subject<'a>,
    pub(in crate::pattern) scope: &'a Scope<'a>,
    pub(in crate::pattern) bindings: &'a Bindings<'a>,
}

impl When {
    /// What must hold of the literals, where the guard holds otherwise.
    pub(in crate::pattern) fn prove(&self, facts: &Facts<'_>) -> Result<Vec<Precondition>, Refusal> {
        self.check
            .prove(facts)
            .map_err(|reason| Refusal { guard: Guard::When, reason: format!("{}: {reason}", self.text) })
    }
}

type Proof = Result<Vec<Precondition>, String>;

/// Proven without a look at literals.
fn hold(holds: bool, reason: impl FnOnce() -> String) -> Proof {
    if holds { Ok(Vec::new()) } else { Err(reason()) }
}

impl Check {
    fn prove(&self, facts: &Facts<'_>) -> Proof {
        match self {
            Check::Column(name) => facts.column(name).map(|_| Vec::new()),
            Check::Indexed(name) => {
                let (visible, column) = facts.column(name)?;
                let first = |key: &sql::catalog::Key| {
                    key.parts.first().is_some_and(|part| part.column.as_deref() == Some(column.name.as_str()))
                };
                hold(visible.table.keys.iter().any(first), || format!("no key begins with {}", column.name))
            }
            Check::NotNull(name) => {
                let (visible, column) = facts.column(name)?;
                hold(!column.nullable, || format!("{} may be NULL", column.name))?;
                hold(!facts.scope.may_be_absent(visible), || {
                    format!("{} is NULL where the outer join finds nothing", column.name)
                })
            }
            Check::Type(name, types) => {
                let (_, column) = facts.column(name)?;
                hold(types.contains(&column.kind.base), || format!("{} is {}", column.name, column.kind.text))
            }
            Check::Signed(name) => {
                let (_, column) = facts.column(name)?;
                hold(!column.kind.unsigned, || format!("{} is {}", column.name, column.kind.text))
            }
            Check::Collation(name, wanted) => {
                let (_, column) = facts.column(name)?;
                let own = column.collation.as_deref().unwrap_or("none").to_lowercase();
                let fits = |wanted: &String| match wanted.strip_suffix('*') {
                    Some(start) => own.starts_with(start),
                    None => *wanted == own || wanted.strip_prefix('*').is_some_and(|end| own.ends_with(end)),
                };
                hold(wanted.iter().any(fits), || format!("{} has the collation {own}", column.name))
            }
            Check::SameType(a, b) => {
                let ((_, left), (_, right)) = (facts.column(a)?, facts.column(b)?);
                hold(same_type(left, right), || {
                    format!("{} is {}, {} is {}", left.name, left.kind.text, right.name, right.kind.text)
                })
            }
            Check::Constant(name) => facts.constant(name),
            Check::Literal(name, kind) => facts.literal(name, *kind),
            Check::Fits(name, column) => facts.fits(name, column),
            Check::Length(text, number) => {
                let (slot, length) = (facts.slot(text, Kind::Text)?, facts.slot(number, Kind::Int)?);
                Ok(vec![Precondition::Length { slot, length }])
            }
            Check::Member(name, list) => {
                let node = facts.node(name)?;
                let source = &facts.subject.source;
                hold(facts.bindings.all(list).iter().any(|item| alike(source, node, item)), || {
                    format!("{} is not among them", facts.shown(node))
                })
            }
            Check::NoAlias(name, list) => facts.no_alias(name, list),
            Check::Within(name, low, high) => {
                let slot = facts.slot(name, Kind::Int)?;
                let mut conditions = Vec::new();
                if *low > 0 {
                    conditions.push(Precondition::IntAtLeast { slot, min: *low });
                }
                if *high < u64::MAX {
                    conditions.push(Precondition::IntAtMost { slot, max: *high });
                }
                Ok(conditions)
            }
            Check::Differ(a, b) => {
                let (left, right) = (facts.slot(a, Kind::Int)?, facts.slot(b, Kind::Int)?);
                Ok(vec![Precondition::IntsDiffer { left, right }])
            }
            Check::Mode(named, wanted) => {
                let mode = facts.subject.context.flavor.mode;
                match wanted {
                    true => hold(mode.contains(*named), || "the session's sql_mode lacks it".to_owned()),
                    false => hold(!mode.intersects(*named), || "the session's sql_mode has it".to_owned()),
                }
            }
            Check::BaseTable(name) => {
                let node = facts.node(name)?;
                hold(node.tag == Tag::Table, || "a derived table".to_owned())
            }
        }
    }
}

impl Facts<'_> {
    fn node(&self, name: &str) -> Result<&Node, String> {
        // A variable of an optional part that is not there proves nothing.
        self.bindings.one(name).ok_or_else(|| format!("${name} is not there, or a list"))
    }

    fn shown(&self, node: &Node) -> String {
        self.subject.source.show(&node.range)
    }

    /// The catalog's column that a metavariable stands for.
    fn column(&self, name: &str) -> Result<(&Visible<'_>, &Column), String> {
        let node = self.node(name)?.bare();
        let source = &self.subject.source;
        let reference = Reference::read(source, &node.range).filter(|_| node.tag == Tag::Column);
        let reference = reference.ok_or_else(|| format!("{} is not a column", self.shown(node)))?;
        self.scope.resolve(source, &reference).map_err(|refusal| refusal.reason)
    }

    /// No columns, no subqueries, nothing that is not the same for every row.
    fn constant(&self, name: &str) -> Proof {
        let node = self.node(name)?;
        let mut reason = None;
        node.walk(&mut |part| {
            let why = match &part.tag {
                Tag::Literal if self.is_parameter(part) => Some("a parameter".to_owned()),
                Tag::Literal | Tag::Word(_) | Tag::Paren | Tag::Unary(_) | Tag::Binary(_) | Tag::Div => None,
                Tag::Interval(_) => None,
                Tag::Call { name, .. } => match sql::facts::purity(name, part.children.len()) {
                    Purity::Pure | Purity::Statement => None,
                    _ => Some(format!("{name}()")),
                },
                _ => Some(self.shown(part)),
            };
            reason = reason.take().or(why);
        });
        match reason {
            None => Ok(Vec::new()),
            Some(what) => Err(format!("{what} is not constant")),
        }
    }

    fn is_parameter(&self, node: &Node) -> bool {
        let kind = self.subject.source.kind(node.range.start);
        matches!(kind, Some(UnitKind::Literal { kind: LiteralKind::Param, .. }))
    }

    /// The slot of a literal of this kind.
    fn slot(&self, name: &str, kind: Kind) -> Result<u32, String> {
        let node = self.node(name)?.bare();
        let wanted = match kind {
            Kind::Int => LiteralKind::Int,
            Kind::Text | Kind::Shaped(_) => LiteralKind::String,
        };
        match (&node.tag, self.subject.source.kind(node.range.start)) {
            (Tag::Literal, Some(UnitKind::Literal { kind, slot: Some(slot) })) if kind == wanted => Ok(slot),
            _ => Err(format!("{} is not such a literal", self.shown(node))),
        }
    }

    fn literal(&self, name: &str, kind: Option<Kind>) -> Proof {
        match kind {
            None => {
                let node = self.node(name)?.bare();
                let plain = node.tag == Tag::Literal && !self.is_parameter(node);
                hold(plain, || format!("{} is not a literal", self.shown(node)))
            }
            Some(kind) => {
                let slot = self.slot(name, kind)?;
                Ok(match kind {
                    Kind::Int | Kind::Text => Vec::new(),
                    Kind::Shaped(shape) => vec![Precondition::Shaped { slot, shape }],
                })
            }
        }
    }

    fn fits(&self, name: &str, column: &str) -> Proof {
        let (_, column) = self.column(column)?;
        let kind = match column.kind.base {
            base if base.is_integer() => Kind::Int,
            BaseType::Date => Kind::Shaped(Shape::Date),
            BaseType::DateTime => Kind::Shaped(Shape::DateTime),
            _ => {
                return Err(format!(
                    "{} is {}, whose literals are not told apart",
                    column.name, column.kind.text
                ));
            }
        };
        self.literal(name, Some(kind))
    }

    /// HAVING and ORDER BY find names of the select list first: under the column's name it must have the column itself.
    fn no_alias(&self, name: &str, list: &str) -> Proof {
        let node = self.node(name)?.bare();
        let source = &self.subject.source;
        let reference = Reference::read(source, &node.range);
        let own = reference.and_then(|reference| crate::shape::name(source, reference.last()));
        let own = own.ok_or_else(|| format!("{} is not a column", self.shown(node)))?;
        for item in self.bindings.all(list) {
            let alias =
                item.child(&Tag::Name).and_then(|alias| crate::shape::name(source, alias.range.start));
            if alias.is_some_and(|alias| names_equal(&alias, &own)) {
                return Err(format!("the select list has {own} as an alias"));
            }
        }
        Ok(Vec::new())
    }
}
