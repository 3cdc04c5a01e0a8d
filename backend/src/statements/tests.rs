//! What is the same statement, and what is to be closed where.

use super::*;
use crate::profile::Profile;

fn interned(registry: &Registry, text: &str, profile: &Arc<Profile>) -> Arc<Statement> {
    registry.intern(&Arc::from(text.as_bytes()), profile, 0)
}

#[test]
fn the_same_text_in_the_same_state_is_one_statement() {
    let registry = Registry::new(10);
    let (one, other) = (Arc::new(Profile::default()), Arc::new(Profile::default()));
    let a = interned(&registry, "SELECT ?", &one);
    assert!(Arc::ptr_eq(&a, &interned(&registry, "SELECT ?", &one)));
    assert!(!Arc::ptr_eq(&a, &interned(&registry, "SELECT ? ", &one)));
    assert!(!Arc::ptr_eq(&a, &interned(&registry, "SELECT ?", &other)));
    let copy = registry.intern(&Arc::from(&b"SELECT ?"[..]), &one, 1);
    assert!(!Arc::ptr_eq(&a, &copy));
    // Beyond the number of copies each is its own.
    let text: Arc<[u8]> = Arc::from(&b"SELECT ?"[..]);
    assert!(!Arc::ptr_eq(&registry.intern(&text, &one, COPIES), &registry.intern(&text, &one, COPIES)));
}

#[test]
fn what_nobody_has_any_more_is_closed_once() {
    let registry = Registry::new(10);
    let profile = Arc::new(Profile::default());
    let mut placed = Placed::default();
    let (a, b) = (interned(&registry, "a", &profile), interned(&registry, "b", &profile));
    placed.put(&a, 1, &registry);
    placed.put(&b, 2, &registry);
    assert!(!placed.is_untidy(&registry));
    drop(a);
    assert!(placed.is_untidy(&registry));
    assert_eq!(placed.to_close(&registry), [1]);
    assert!(placed.to_close(&registry).is_empty());
    assert_eq!(registry.placed(), 1);
    // Prepared again at the same place: the older one goes.
    placed.put(&b, 3, &registry);
    assert_eq!(placed.to_close(&registry), [2]);
    assert_eq!(placed.find(&b).map(|entry| entry.server), Some(3));
    drop(placed);
    assert_eq!(registry.placed(), 0);
}

#[test]
fn beyond_the_budget_the_longest_unused_makes_room() {
    let registry = Registry::new(2);
    let profile = Arc::new(Profile::default());
    let mut placed = Placed::default();
    let all: Vec<_> = ["a", "b", "c"].map(|text| interned(&registry, text, &profile)).into();
    placed.put(&all[0], 1, &registry);
    placed.put(&all[1], 2, &registry);
    placed.find(&all[0]);
    placed.put(&all[2], 3, &registry);
    assert_eq!(placed.to_close(&registry), [2]);
    assert!(placed.find(&all[1]).is_none());
    // A connection that has nothing to give up goes beyond it: the server decides.
    let mut other = Placed::default();
    other.put(&all[1], 9, &registry);
    assert!(other.to_close(&registry).is_empty());
    assert_eq!(registry.placed(), 3);
    other.clear();
    assert!(other.find(&all[1]).is_none());
    assert_eq!(registry.placed(), 2);
}

#[test]
fn a_registry_forgets_what_is_dead() {
    let registry = Registry::new(10);
    let profile = Arc::new(Profile::default());
    for n in 0..10 * SWEEP {
        drop(interned(&registry, &n.to_string(), &profile));
    }
    assert!(registry.known.lock().expect("nobody panicked").statements.len() <= SWEEP);
}

#[test]
fn a_statement_of_other_kinds_of_parameters_is_another() {
    let registry = Registry::new(10);
    let profile = Arc::new(Profile::default());
    let mut placed = Placed::default();
    let of = |statement: &Statement, kinds: &[Kind]| {
        registry.of_kinds(statement, kinds.into()).expect("it can be prepared elsewhere")
    };
    let fresh = interned(&registry, "SELECT ?, ?", &profile);
    let (half, whole, other) = (of(&fresh, &[1, NO_KIND]), of(&fresh, &[1, 5]), of(&fresh, &[5, 5]));
    assert!(Arc::ptr_eq(&whole, &of(&half, &[1, 5])));
    assert!([&half, &whole, &other].iter().all(|it| it.is(b"SELECT ?, ?", &profile, 0)));
    placed.put(&fresh, 1, &registry);
    placed.turn(&fresh, &half);
    assert!(placed.find(&fresh).is_none());
    placed.turn(&half, &whole);
    assert_eq!(placed.find(&whole).map(|entry| entry.server), Some(1));
    // The server would go on with the older kind.
    placed.turn(&whole, &other);
    assert!(placed.find(&other).is_none() && placed.find(&whole).is_some());
    // Where it is prepared already, nothing takes its place.
    placed.put(&fresh, 2, &registry);
    placed.turn(&fresh, &whole);
    assert_eq!(placed.find(&whole).map(|entry| entry.server), Some(1));
    assert_eq!(registry.placed(), 2);
    assert!(registry.of_kinds(&registry.bound(), Arc::default()).is_none());
}
