use sql::catalog::{Catalog, TableNames};

use super::{CatalogHandle, NO_CATALOG};

fn empty() -> Option<Catalog> {
    Some(Catalog::new(0, TableNames::CaseSensitive))
}

fn known() -> CatalogHandle {
    let handle = CatalogHandle::new();
    let mark = handle.mark();
    handle.publish(mark, empty());
    handle
}

#[test]
fn nothing_is_known_before_the_first_reading() {
    let handle = CatalogHandle::new();
    assert_eq!(handle.generation(), NO_CATALOG);
    assert!(handle.current().is_none());
    assert!(handle.is_stale());
    let mark = handle.mark();
    assert_eq!(handle.publish(mark, empty()), 1);
    assert_eq!(handle.current().map(|catalog| catalog.generation), Some(1));
    assert!(!handle.is_stale());
}

#[test]
fn the_catalog_is_unknown_from_the_begin_of_a_ddl_to_the_end_of_the_reading_after_it() {
    let handle = known();
    let ddl = handle.ddl_began();
    assert!(handle.current().is_none());
    drop(ddl);
    assert!(handle.current().is_none() && handle.is_stale());
    let mark = handle.mark();
    handle.publish(mark, None);
    assert_eq!(handle.generation(), 1, "the content is what it was, so plans stay");
}

#[test]
fn a_reading_that_began_before_the_ddl_ended_does_not_count() {
    let handle = known();
    let ddl = handle.ddl_began();
    let mark = handle.mark();
    drop(ddl);
    handle.publish(mark, empty());
    assert!(handle.current().is_none() && handle.is_stale());
    let mark = handle.mark();
    handle.publish(mark, None);
    assert_eq!(handle.generation(), 2);
}

#[test]
fn a_second_ddl_that_still_runs_keeps_the_catalog_unknown() {
    let handle = known();
    let (first, second) = (handle.ddl_began(), handle.ddl_began());
    drop(first);
    let mark = handle.mark();
    handle.publish(mark, empty());
    assert!(handle.current().is_none());
    drop(second);
    let mark = handle.mark();
    handle.publish(mark, None);
    assert!(handle.current().is_some());
}

#[test]
fn invalidate_asks_for_a_reading() {
    let handle = known();
    let requests = handle.requests();
    assert!(!requests.has_changed().unwrap_or(true));
    handle.invalidate();
    assert!(requests.has_changed().unwrap_or(false));
    assert!(handle.current().is_none());
    assert!(handle.last().is_some());
}
