//! Tests of where a server is looked for, with the machine's own server behind the last ones.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Error, Place, Surroundings, find, libraries, places};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

fn around() -> Surroundings {
    Surroundings {
        projects: vec![PathBuf::from("/proj")],
        path: vec![PathBuf::from("/p1"), PathBuf::from("/p2")],
        ..Surroundings::default()
    }
}

#[test]
fn what_is_named_is_tried_alone() {
    let mut around = around();
    around.server = Some(PathBuf::from("/env"));
    let configured = places(Some(Path::new("/conf")), &around);
    assert!(matches!(&configured[..], [Place::Named { path, .. }] if path == Path::new("/conf")));
    let env = places(None, &around);
    assert!(matches!(&env[..], [Place::Named { path, .. }] if path == Path::new("/env")));
}

#[test]
fn the_project_comes_before_the_path_and_the_usual_folders_last() {
    let all = places(None, &around());
    assert_eq!(all[0], Place::Tree(PathBuf::from("/proj/.deps/mariadb")));
    assert_eq!(all[1], Place::Folder(PathBuf::from("/p1")));
    assert_eq!(all[3], Place::Folder(PathBuf::from("/usr/sbin")));
}

#[test]
fn a_named_path_that_leads_nowhere_is_an_error_not_a_search() {
    let error = find(Some(Path::new("/no/such/place")), &Surroundings::of_process()).unwrap_err();
    assert!(matches!(error, Error::NoServerThere { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/place"));
}

#[test]
fn another_program_is_not_taken_for_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let fake = dir.path().join("mysqld");
    std::fs::write(&fake, "#!/bin/sh\necho 'mysqld  Ver 9.7.4 for Linux'\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = find(Some(dir.path()), &Surroundings::default()).unwrap_err();
    assert!(error.to_string().contains("Ver 9.7.4"), "{error}");
}

#[test]
fn the_machines_server_is_found_also_through_a_link() {
    let found = find(None, &Surroundings::of_process()).unwrap();
    assert!(found.release.major >= 10);
    assert!(found.system_tables().unwrap().len() >= 3);
    let dir = tempfile::tempdir().unwrap();
    symlink(&found.program, dir.path().join("mariadbd")).unwrap();
    let linked = find(Some(dir.path()), &Surroundings::default());
    // An unpacked installation brings its libraries along, a link to it does as well.
    assert_eq!(linked.unwrap().program, found.program);
}

#[test]
fn only_an_installation_of_its_own_brings_libraries() {
    assert_eq!(libraries(Path::new("/usr"), None), None);
    let dir = tempfile::tempdir().unwrap();
    let triplet = dir.path().join("lib/x86_64-linux-gnu");
    std::fs::create_dir_all(&triplet).unwrap();
    let joined = libraries(dir.path(), Some(&"/before".into())).unwrap();
    let dirs: Vec<_> = std::env::split_paths(&joined).collect();
    assert_eq!(dirs, [triplet, dir.path().join("lib"), PathBuf::from("/before")]);
}
