//! From a text to a plan: through the plan cache, or by parsing, the rules and the router.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use backend::catalog::NO_CATALOG;
use moka::sync::Cache;
use rewriter::{Context, Guard, Outcome, Read, RuleId, Verdict, VerdictKind};
use router::plan::{Forward, Plan, Proposal, Rewritten, Untouched};
use router::route::{Known, route};
use router::topology::{BackendId, Topology};
use sql::catalog::Catalog;
use sql::traces::contains;
use sql::{CharsetClass, Digest, Flavor, Marks, Piece, Scan, Scanner, Traces, Verb, digest};
use xxhash_rust::xxh3::xxh3_128;

use crate::admin;
use crate::shared::{RuleCount, Rules, Shared};
use crate::stats::{Counter, DigestStats};

/// Bytes that the plan cache may hold, by the length of the texts in it.
const CACHE_BYTES: u64 = 64 << 20;
/// What a plan weighs besides its text.
const ENTRY_BYTES: u32 = 512;

thread_local! {
    static SCANNER: std::cell::RefCell<Scanner> = std::cell::RefCell::new(Scanner::default());
}

/// A statement, and what of its session a plan depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The statement's text, in the client's character set.
    pub(crate) text: &'a [u8],
    /// What lexing depends on.
    pub(crate) flavor: Flavor,
    /// A hash of flavor, schema and user.
    pub(crate) view: u128,
    /// The default schema.
    pub(crate) schema: Option<&'a str>,
    /// The user.
    pub(crate) user: &'a str,
    /// Every name in the session's `sql_mode` is known.
    pub(crate) sql_mode_known: bool,
    /// The session may have temporary tables.
    pub(crate) may_shadow: bool,
}

/// A plan with what is counted under it.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    digest: Digest,
    verb: Verb,
    traces: Traces,
    marks: Marks,
    plan: Plan,
    /// It may make a temporary table.
    temporary: bool,
    stats: Option<Arc<DigestStats>>,
    fired: Vec<Arc<RuleCount>>,
    refused: Vec<Arc<RuleCount>>,
    /// Whether a rule's guards asked the catalog.
    leans: bool,
}

impl Planned {
    pub(crate) const fn digest(&self) -> u128 {
        self.digest.0
    }

    pub(crate) const fn verb(&self) -> Verb {
        self.verb
    }

    pub(crate) const fn marks(&self) -> Marks {
        self.marks
    }

    pub(crate) const fn traces(&self) -> Traces {
        self.traces
    }

    pub(crate) const fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn stats(&self) -> Option<&DigestStats> {
        self.stats.as_deref()
    }

    /// Counts one execution for the rules that had to do with it.
    pub(crate) fn count_rules(&self, rewritten: bool) {
        if rewritten {
            for count in &self.fired {
                count.fired.fetch_add(1, Relaxed);
            }
        }
        for count in &self.refused {
            count.refused.fetch_add(1, Relaxed);
        }
    }

    /// Whether the session may have temporary tables after it.
    pub(crate) fn may_shadow(&self) -> bool {
        self.temporary
            || self.marks.intersects(Marks::OPAQUE | Marks::MULTI | Marks::COMPOUND)
            || matches!(self.verb, Verb::Call | Verb::Execute | Verb::Other | Verb::SetStatement)
    }

    /// The same statement, sent on as it came.
    pub(crate) fn untouched(&self) -> Arc<Self> {
        let plan = Plan::Forward(Forward { to: BackendId::HOME, why: Untouched::NotUnderstood });
        Arc::new(Self { plan, ..self.clone() })
    }
}

/// The key of a plan: everything that it depends on.
fn key(scan: &Scan<'_>, question: &Question<'_>, rules: u64, catalog: u64, epoch: u64) -> u128 {
    let mut bytes = [0u8; 57];
    let (digest, rest) = bytes.split_at_mut(16);
    digest.copy_from_slice(&scan.digest.0.to_le_bytes());
    let (view, rest) = rest.split_at_mut(16);
    view.copy_from_slice(&question.view.to_le_bytes());
    for (room, number) in rest.chunks_exact_mut(8).zip([rules, catalog, epoch]) {
        room.copy_from_slice(&number.to_le_bytes());
    }
    // Comments are no part of the digest, but this one decides.
    bytes[56] = u8::from(scan.marks.contains(Marks::PRAGMA_OFF));
    xxh3_128(&bytes)
}

fn planned(
    shared: &Shared,
    rules: &Rules,
    catalog: &Catalog,
    topology: &Topology,
    question: &Question<'_>,
    scan: &Scan<'_>,
) -> Planned {
    let Judged { known, outcome } = judge(rules, catalog, question, scan);
    let plan = route(known, topology);
    let count = |rule: &RuleId| shared.rule_count(rule);
    let fired = match &plan {
        Plan::Rewritten(_) => outcome.iter().flat_map(|outcome| &outcome.fired).map(count).collect(),
        _ => Vec::new(),
    };
    let verdicts = outcome.iter().flat_map(|outcome| &outcome.explain);
    let refused = verdicts
        .filter(|verdict| matches!(&verdict.result, VerdictKind::Refused(why) if why.guard != Guard::Scope))
        .map(|verdict| count(&verdict.rule))
        .collect();
    let leans = outcome.iter().flat_map(|outcome| &outcome.explain).any(leans);
    // The proxy's own statements are nobody's traffic.
    let stats = (!matches!(plan, Plan::Local)).then(|| {
        shared.stats.digests.get(scan.digest.0, question.schema.unwrap_or_default(), || {
            digest::normalize(question.text, question.flavor)
        })
    });
    let temporary = scan.verb == Verb::Ddl && contains(question.text, b"temporary");
    Planned {
        traces: Traces::of(scan, question.text),
        digest: scan.digest,
        verb: scan.verb,
        marks: scan.marks,
        temporary,
        plan,
        stats,
        fired,
        refused,
        leans,
    }
}

/// Whether a rule's verdict rests on the catalog, or would if it were known.
pub(crate) fn leans(verdict: &Verdict) -> bool {
    match &verdict.result {
        VerdictKind::Disabled | VerdictKind::NotMatched(_) => false,
        VerdictKind::Refused(why) => why.guard != Guard::Scope,
        VerdictKind::Fired(_) | VerdictKind::WouldFire { .. } => true,
    }
}

/// What is known of a statement, and what the rules said if they were asked.
pub(crate) struct Judged {
    pub(crate) known: Known,
    pub(crate) outcome: Option<Outcome>,
}

/// Judges a statement: pure, and the same for `explain` and for the sessions.
pub(crate) fn judge(rules: &Rules, catalog: &Catalog, question: &Question<'_>, scan: &Scan<'_>) -> Judged {
    let untouched = |why| Judged { known: Known::Untouched(why), outcome: None };
    if admin::parse(question.text, question.flavor).is_some() {
        return Judged { known: Known::Local, outcome: None };
    }
    if scan.marks.intersects(Marks::OPAQUE) || question.flavor.charset == CharsetClass::Unsafe {
        return untouched(Untouched::NotUnderstood);
    }
    if scan.verb != Verb::Select || scan.marks.contains(Marks::MULTI) {
        return untouched(Untouched::NotASelect);
    }
    if scan.marks.contains(Marks::PRAGMA_OFF) || !rules.on {
        return untouched(Untouched::SwitchedOff);
    }
    let Some(read) = Read::of(question.text.to_vec(), question.flavor) else {
        return untouched(Untouched::NotUnderstood);
    };
    let context = Context {
        flavor: question.flavor,
        sql_mode_known: question.sql_mode_known,
        schema: question.schema,
        user: question.user,
        catalog,
        session_may_shadow: question.may_shadow,
    };
    let outcome = rewriter::rewrite(&rules.set, &read.statement(), &context);
    let known = match &outcome.template {
        None => Known::Untouched(Untouched::NoRule),
        Some(template) => Known::Proposed(Proposal {
            template: template.clone(),
            preconditions: outcome.preconditions.clone(),
            rules: outcome.fired.iter().map(|rule| rule.as_str().into()).collect(),
        }),
    };
    Judged { known, outcome: Some(outcome) }
}

/// The plan cache.
#[derive(Debug)]
pub(crate) struct Planner {
    cache: Cache<u128, Arc<Planned>, BuildHasherDefault<KeyHasher>>,
}

/// Keys are hashes already.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64(bytes);
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Planner {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(CACHE_BYTES)
            .weigher(|_: &u128, planned: &Arc<Planned>| planned.weight())
            .build_with_hasher(BuildHasherDefault::default());
        Self { cache }
    }

    /// The plan for a statement. Allocates nothing where the cache has it.
    pub(crate) fn plan(&self, shared: &Shared, question: &Question<'_>) -> Arc<Planned> {
        SCANNER.with_borrow_mut(|scanner| {
            let scan = scanner.scan(question.text, question.flavor);
            let rules = shared.rules.load();
            let topology = shared.topology.load();
            let catalog = &shared.home().catalog;
            let key = |catalog| key(&scan, question, rules.generation, catalog, topology.epoch());
            let lean = |planned: &Planned| {
                if planned.leans {
                    catalog.need();
                }
            };
            if let Some(planned) = self.cache.get(&key(catalog.generation())) {
                lean(&planned);
                shared.stats.totals.add(Counter::PlanHits, 1);
                return planned;
            }
            shared.stats.totals.add(Counter::PlanMisses, 1);
            let current = catalog.current();
            let generation = current.as_ref().map_or(NO_CATALOG, |catalog| catalog.generation);
            // Without a catalog every guard that needs one refuses, so what is planned then is right at any time.
            let tables = current.unwrap_or_default();
            let planned = Arc::new(planned(shared, &rules, &tables, &topology, question, &scan));
            if matches!(&planned.plan, Plan::Forward(Forward { why: Untouched::NotUnderstood, .. })) {
                shared.stats.totals.add(Counter::Unparsed, 1);
                shared.log_statement("not understood, forwarded as it came", question.text, question.flavor);
            }
            lean(&planned);
            self.cache.insert(key(generation), planned.clone());
            planned
        })
    }

    /// Writes the new text of a rewritten statement; `false` where a precondition on its literals does not hold.
    pub(crate) fn render(&self, plan: &Rewritten, text: &[u8], flavor: Flavor, out: &mut Vec<u8>) -> bool {
        SCANNER.with_borrow_mut(|scanner| {
            let scan = scanner.scan(text, flavor);
            plan.render(text, &scan, out)
        })
    }

    /// Plans that are cached now.
    pub(crate) fn len(&self) -> u64 {
        self.cache.entry_count()
    }
}

impl Planned {
    fn weight(&self) -> u32 {
        let text = match &self.plan {
            Plan::Rewritten(plan) => plan.template.0.iter().map(weight).sum(),
            _ => 0,
        };
        ENTRY_BYTES.saturating_add(u32::try_from(text).unwrap_or(u32::MAX))
    }
}

fn weight(piece: &Piece) -> usize {
    std::mem::size_of::<Piece>()
        + match piece {
            Piece::Text(text) => text.len(),
            _ => 0,
        }
}

#[cfg(test)]
mod bench;
