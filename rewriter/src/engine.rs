//! Runs the rules over one statement and says of each what became of it.

use sql::catalog::Catalog;
use sql::digest::{OwnedScan, Scan, Scanner};
use sql::facts::Facts;
use sql::{Flavor, Precondition, Template};

use crate::guard::{self, Draft, Guard, Proposal, Refusal, Subject, refuse};
use crate::load::RuleSet;
use crate::rule::{Mode, Rule, RuleId};
use crate::shape::{self, Query, Source};
use crate::splice;

/// A statement as it was read: text, units and facts belong together.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The text.
    pub text: &'a [u8],
    /// Its scan under the context's flavor.
    pub scan: Scan<'a>,
    /// Its facts.
    pub facts: &'a Facts,
}

/// What a rewrite may depend on beside the text; a plan made from it is valid as long as none of it changes.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Product, version, lexical modes and character set.
    pub flavor: Flavor,
    /// Whether every name in the session's `sql_mode` is known.
    pub sql_mode_known: bool,
    /// The session's schema.
    pub schema: Option<&'a str>,
    /// The session's user, without host.
    pub user: &'a str,
    /// The catalog.
    pub catalog: &'a Catalog,
    /// Whether the session may have temporary tables, which would stand before tables of the catalog.
    pub session_may_shadow: bool,
}

/// What became of a statement.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The new text over the *original's* units; none when nothing is rewritten.
    pub template: Option<Template>,
    /// What must hold of the literals at each execution; where it does not, the original is served.
    pub preconditions: Vec<Precondition>,
    /// The enabled rules whose work is in the template, in order; one may be there more than once.
    pub fired: Vec<RuleId>,
    /// What became of every rule, in the order in which they were tried.
    pub explain: Vec<Verdict>,
}

impl Outcome {
    /// The new text of this execution, appended to `out`: `false` (and nothing appended) when the original is to be served.
    pub fn render(&self, text: &[u8], scan: &Scan<'_>, out: &mut Vec<u8>) -> bool {
        let Some(template) = &self.template else {
            return false;
        };
        self.preconditions.iter().all(|condition| condition.holds(text, scan))
            && template.render(text, scan, out).is_ok()
    }
}

/// What became of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The rule.
    pub rule: RuleId,
    /// Its mode.
    pub mode: Mode,
    /// What became of it.
    pub result: VerdictKind,
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// Its mode is `disabled`.
    Disabled,
    /// The statement is not of its pattern; why.
    NotMatched(String),
    /// The statement is of its pattern, but a guard did not hold.
    Refused(Refusal),
    /// It rewrote the statement; what it did.
    Fired(String),
    /// It would have, were it enabled: what it would do, and the text for the literals at hand.
    WouldFire {
        /// What it would do.
        note: String,
        /// The new text; lossy where it is not UTF-8.
        text: String,
    },
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.rule)?;
        match &self.result {
            VerdictKind::Disabled => f.write_str("disabled"),
            VerdictKind::NotMatched(why) => write!(f, "not matched: {why}"),
            VerdictKind::Refused(refusal) => write!(f, "refused by {}: {}", refusal.guard, refusal.reason),
            VerdictKind::Fired(note) => write!(f, "fired: {note}"),
            VerdictKind::WouldFire { note, .. } if self.mode == Mode::Shadow => {
                write!(f, "would fire (mode shadow, which this version treats as explain): {note}")
            }
            VerdictKind::WouldFire { note, .. } => {
                write!(f, "would fire (mode {}): {note}", self.mode.name())
            }
        }
    }
}

/// How often a new text is tried again.
pub const MAX_PASSES: usize = 3;

/// A text on its way through the passes, with where each of its units came from.
struct Step {
    text: Vec<u8>,
    scan: OwnedScan,
    facts: Facts,
    origins: Vec<splice::Origin>,
}

/// A rule's verified work on one text.
struct Work {
    template: Template,
    preconditions: Vec<Precondition>,
    /// A precondition that the literals at hand do not meet: the template serves others of the digest.
    unmet: Option<Refusal>,
    note: String,
    step: Step,
}

/// Tries the rules on a statement. Pure: the same arguments give the same outcome, for explaining and for serving.
///
/// Rules are tried in their order; after one fired, the new text is read again and tried from the start, at most
/// [`MAX_PASSES`] times. A new text that reads differently from what was put together is discarded.
pub fn rewrite(rules: &RuleSet, statement: &Statement<'_>, context: &Context<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut current: Option<Step> = None;
    let mut verdicts: Vec<Verdict> = Vec::new();
    for _ in 0..MAX_PASSES {
        let borrowed = current.as_ref().map(|step| Statement {
            text: &step.text,
            scan: step.scan.as_scan(),
            facts: &step.facts,
        });
        let stage = borrowed.as_ref().unwrap_or(statement);
        let mut fired = None;
        for rule in rules.rules() {
            let (verdict, work) = try_rule(rule, stage, context);
            note(&mut verdicts, rule, verdict);
            if let Some(work) = work
                && rule.mode == Mode::Enabled
            {
                fired = Some((rule, work));
                break;
            }
        }
        let Some((rule, work)) = fired else { break };
        let Some(step) = accept(&mut outcome, statement, current.as_ref(), work) else {
            break;
        };
        outcome.fired.push(rule.id.clone());
        current = Some(step);
    }
    // Rules behind one that fired last were not reached in that pass; every rule has a verdict all the same.
    let last = current.as_ref().map(|step| Statement {
        text: &step.text,
        scan: step.scan.as_scan(),
        facts: &step.facts,
    });
    for rule in rules.rules() {
        if !verdicts.iter().any(|verdict| verdict.rule == rule.id) {
            let (verdict, _) = try_rule(rule, last.as_ref().unwrap_or(statement), context);
            note(&mut verdicts, rule, verdict);
        }
    }
    outcome.explain = verdicts;
    outcome
}

/// Keeps the first pass's verdict of a rule, unless it fires later.
fn note(verdicts: &mut Vec<Verdict>, rule: &Rule, result: VerdictKind) {
    let verdict = Verdict { rule: rule.id.clone(), mode: rule.mode, result };
    match verdicts.iter_mut().find(|known| known.rule == rule.id) {
        None => verdicts.push(verdict),
        Some(known) if matches!(verdict.result, VerdictKind::Fired(_)) => *known = verdict,
        Some(_) => {}
    }
}

/// Adds one rule's work to the outcome. `None` where it cannot be said over the original's units.
fn accept(
    outcome: &mut Outcome,
    original: &Statement<'_>,
    before: Option<&Step>,
    work: Work,
) -> Option<Step> {
    let Work { template, preconditions, mut step, .. } = work;
    let Some(before) = before else {
        outcome.template = Some(template);
        outcome.preconditions = preconditions;
        return Some(step);
    };
    let middle = before.scan.as_scan();
    let composed = splice::compose(&template, &before.origins, &original.scan, &middle)?;
    let conditions: Option<Vec<_>> = preconditions
        .iter()
        .map(|condition| splice::translate(condition, &before.origins, &original.scan, &middle))
        .collect();
    // The composed template must give the text that was verified, up to the space around spliced words.
    let mut text = Vec::new();
    composed.render(original.text, &original.scan, &mut text).ok()?;
    step.origins = step
        .origins
        .iter()
        .map(|origin| match origin {
            splice::Origin::Source(unit) => before.origins.get(*unit as usize).cloned(),
            other => Some(other.clone()),
        })
        .collect::<Option<Vec<_>>>()?;
    outcome.template = Some(composed);
    outcome.preconditions.extend(conditions?);
    Some(step)
}

fn try_rule(rule: &Rule, statement: &Statement<'_>, context: &Context<'_>) -> (VerdictKind, Option<Work>) {
    if rule.mode == Mode::Disabled {
        return (VerdictKind::Disabled, None);
    }
    if let Err(refusal) = in_scope(rule, context) {
        return (VerdictKind::Refused(refusal), None);
    }
    match propose(rule, statement, context) {
        Err(refusal) => (VerdictKind::Refused(refusal), None),
        Ok(Err(why)) => (VerdictKind::NotMatched(why), None),
        Ok(Ok(work)) => {
            let verdict = match rule.mode {
                _ if work.unmet.is_some() => {
                    work.unmet.clone().map_or(VerdictKind::Disabled, VerdictKind::Refused)
                }
                Mode::Enabled => VerdictKind::Fired(work.note.clone()),
                _ => VerdictKind::WouldFire {
                    note: work.note.clone(),
                    text: String::from_utf8_lossy(&work.step.text).into_owned(),
                },
            };
            (verdict, Some(work))
        }
    }
}

fn in_scope(rule: &Rule, context: &Context<'_>) -> Result<(), Refusal> {
    let scope = &rule.scope;
    let flavor = &context.flavor;
    if !scope.servers.is_empty()
        && !scope.servers.iter().any(|server| server.covers(flavor.product, flavor.version))
    {
        return refuse(Guard::Scope, "the rule is not for this server");
    }
    if !scope.schemas.is_empty()
        && !context.schema.is_some_and(|schema| scope.schemas.iter().any(|own| own == schema))
    {
        return refuse(Guard::Scope, "the rule is not for this schema");
    }
    if !scope.users.is_empty() && !scope.users.iter().any(|user| user == context.user) {
        return refuse(Guard::Scope, "the rule is not for this user");
    }
    Ok(())
}

/// One rule on one text: guards, pass, verification. The inner error is "not matched".
fn propose(
    rule: &Rule,
    statement: &Statement<'_>,
    context: &Context<'_>,
) -> Result<Result<Work, String>, Refusal> {
    let source = Source { text: statement.text, units: statement.scan.units };
    if !statement.scan.verb.is_query() {
        return Ok(Err("not a query".to_owned()));
    }
    // The text's marks come first: behind a hint or an executable comment its shape proves nothing.
    let text = guard::readable(statement, context);
    let query = match shape::read(source) {
        Ok(query) => query,
        Err(odd) => {
            text?;
            return Ok(Err(odd.0));
        }
    };
    let subject = Subject { source, statement, query: &query, context };
    let proposal = rule.pass.propose(&subject);
    if let Proposal::NotMatched(why) = proposal {
        return Ok(Err(why.to_owned()));
    }
    text?;
    guard::plain(statement.facts, context)?;
    match proposal {
        Proposal::NotMatched(why) => Ok(Err(why.to_owned())),
        Proposal::Refused(refusal) => Err(refusal),
        Proposal::Fires(draft) => verify(rule, statement, &query, context, draft).map(Ok),
    }
}

/// Renders a draft for the literals at hand and reads it again.
fn verify(
    rule: &Rule,
    statement: &Statement<'_>,
    query: &Query,
    context: &Context<'_>,
    draft: Draft,
) -> Result<Work, Refusal> {
    let Some(template) = splice::template(statement.scan.units, draft.edits) else {
        return refuse(Guard::Verified, "the changes overlap");
    };
    let unmet = draft
        .preconditions
        .iter()
        .find(|condition| !condition.holds(statement.text, &statement.scan))
        .map(|condition| Refusal { guard: Guard::Limit, reason: unmet(condition, statement) });
    let mut text = Vec::new();
    if template.render(statement.text, &statement.scan, &mut text).is_err() {
        return refuse(Guard::Verified, "a literal does not fit the new text");
    }
    let step = read_again(&template, statement, text, context)?;
    let source = Source { text: &step.text, units: &step.scan.units };
    let after = shape::read(source).map_err(Refusal::of(Guard::Verified))?;
    let before = Source { text: statement.text, units: statement.scan.units };
    rule.pass
        .verify((&before, query), (&source, &after))
        .map_err(|reason| Refusal { guard: Guard::Verified, reason })?;
    Ok(Work { template, preconditions: draft.preconditions, unmet, note: draft.note, step })
}

fn unmet(condition: &Precondition, statement: &Statement<'_>) -> String {
    let show = |slot: u32| {
        let bytes = statement.scan.slot(statement.text, slot).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    match condition {
        Precondition::IntAtMost { slot, max } => format!("{} is more than {max}", show(*slot)),
        Precondition::IntAtLeast { slot, min } => format!("{} is less than {min}", show(*slot)),
        Precondition::SumAtMost { left, right, max } => {
            format!("{} + {} is more than {max}", show(*left), show(*right))
        }
        Precondition::IntsDiffer { left, right } => {
            format!("{} and {} are equal", show(*left), show(*right))
        }
        Precondition::Shaped { slot, shape } => format!("{} is not {}", show(*slot), shape.describe()),
        Precondition::Length { slot, length } => {
            format!("{} is not {} characters long", show(*slot), show(*length))
        }
        Precondition::Exactly { .. } | Precondition::UnitIs { .. } => "a literal differs".to_owned(),
    }
}

/// A text read on its own: what [`Statement`] borrows.
#[derive(Clone, Debug)]
pub struct Read {
    /// The text.
    pub text: Vec<u8>,
    /// Its scan.
    pub scan: OwnedScan,
    /// Its facts.
    pub facts: Facts,
}

impl Read {
    /// Scans and parses a text. `None` when the tree cannot be built: such a statement is forwarded.
    pub fn of(text: Vec<u8>, flavor: Flavor) -> Option<Read> {
        let parsed = sql::tree::parse(std::str::from_utf8(&text).ok()?, flavor).ok()?;
        let facts = Facts::of(&parsed);
        Some(Read { text, scan: parsed.scan().clone(), facts })
    }

    /// The borrowed form.
    pub fn statement(&self) -> Statement<'_> {
        Statement { text: &self.text, scan: self.scan.as_scan(), facts: &self.facts }
    }
}

/// Reads a new text and proves that it is what was put together: unit by unit, with nothing new that a guard forbids, and
/// in the tree's opinion over the same tables.
fn read_again(
    template: &Template,
    before: &Statement<'_>,
    text: Vec<u8>,
    context: &Context<'_>,
) -> Result<Step, Refusal> {
    let Some(read) = Read::of(text, context.flavor) else {
        return refuse(Guard::Verified, "the new text cannot be read again");
    };
    let after = read.scan.as_scan();
    let mut words = Scanner::new();
    let mut text_units = |text: &str| -> Option<Vec<String>> {
        let scan = words.scan(text.as_bytes(), context.flavor);
        scan.units.iter().map(|unit| String::from_utf8(unit.of(text.as_bytes()).to_vec()).ok()).collect()
    };
    let origins =
        splice::origins(template, (before.text, &before.scan), (&read.text, &after), &mut text_units);
    let Some(origins) = origins else {
        return refuse(Guard::Verified, "the new text reads differently from what was put together");
    };
    if after.marks != before.scan.marks || after.verb != before.scan.verb {
        return refuse(Guard::Verified, "the new text is of another kind");
    }
    guard::readable(&Statement { text: &read.text, scan: after, facts: &read.facts }, context)?;
    guard::plain(&read.facts, context)?;
    Ok(Step { text: read.text, scan: read.scan, facts: read.facts, origins })
}

#[cfg(test)]
mod tests;
