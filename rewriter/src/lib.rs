//! Rules: loading, matching, guards, splicing, explaining.
//!
//! [`RuleSet::load`] reads rule files; [`rewrite`] tries the rules on one statement and is pure: what `explain` shows is
//! what `serve` does. The new text is a [`sql::Template`] over the original's units, so a plan made once serves every
//! statement of the same digest, under preconditions on its literals.

mod describe;
mod engine;
mod fixture;
mod guard;
mod load;
mod passes;
mod pattern;
mod rule;
mod scope;
pub mod selftest;
mod shape;
mod splice;
#[cfg(test)]
mod testing;

pub use describe::describe;
pub use engine::{Context, MAX_PASSES, Outcome, Read, Statement, Verdict, VerdictKind, rewrite};
pub use fixture::{SCHEMA as TEST_SCHEMA, catalog as test_catalog, flavor as test_flavor};
pub use guard::{Guard, Refusal};
pub use load::RuleSet;
pub use passes::Pass;
pub use pattern::Pattern;
pub use rule::{Compare, Effect, Expect, Mode, Rule, RuleId, RuleTest, Scope, ServerScope};
