//! Whole files: what is valid, and every fault with its place.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use backend::tls::TlsMode;
use tracing::Level;

use super::*;

fn parse_in(folder: &Path, text: &str, exposed: bool) -> Result<Config, Vec<Fault>> {
    let environment = |name: &str| (name == "APP_PASSWORD").then(|| "secret".to_owned());
    Config::parse(&folder.join("shuntyard.yaml"), text, exposed, &environment)
}

fn parse(text: &str) -> Result<Config, Vec<Fault>> {
    parse_in(Path::new("/nowhere"), text, false)
}

/// `line:column message` of each fault.
fn faults(text: &str) -> Vec<String> {
    parse(text).unwrap_err().iter().map(|fault| format!("{} {}", fault.span, fault.message)).collect()
}

const SMALLEST: &str = "backends: {s1: {bundled: mariadb}}\n";

#[test]
fn the_smallest_file_has_the_documented_defaults() {
    let config = parse(SMALLEST).unwrap();
    assert_eq!(config.listen, [Listen::Tcp("127.0.0.1:4306".parse().unwrap())]);
    assert_eq!(config.http, Some("127.0.0.1:4380".parse().unwrap()));
    assert_eq!(config.data, Path::new("/nowhere/data"));
    assert_eq!(config.users, Users::FromBackends);
    assert_eq!(config.limits.connections, 10_000);
    assert_eq!(config.timeouts.idle, Some(Duration::from_secs(28_800)));
    assert_eq!((config.server_version, config.account), (None, None));
    assert_eq!(config.log, Log { level: Level::INFO, format: Format::Text, literals: false });
    assert!(!config.rules.read().unwrap().is_empty());
}

#[test]
fn a_full_file_is_read_as_it_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ca.pem", "cert.pem", "key.pem"] {
        fs::write(folder.path().join(name), "pem").unwrap();
    }
    fs::create_dir(folder.path().join("rules")).unwrap();
    let config = parse_in(
        folder.path(),
        "listen: [127.0.0.1:4306, '[::1]:0', localhost:4307, unix:./run/shuntyard.sock]\n\
         http: disabled\n\
         data: /var/lib/shuntyard\n\
         tls: {mode: required, cert: cert.pem, key: key.pem, client_ca: ca.pem}\n\
         server_version: 10.11.6-MariaDB-shuntyard\n\
         backends:\n\
         \x20 s1: {bundled: mariadb, memory: half, settings: {optimizer_switch: 'derived_merge=off'}}\n\
         \x20 s2: {primary: '10.0.0.2:3306', tls: {mode: verify_identity, ca: ca.pem}, expendable: true}\n\
         \x20 s3: {primary: 'unix:run/mysqld.sock'}\n\
         account: {password: {env: APP_PASSWORD}}\n\
         users: [{name: app, password: {env: APP_PASSWORD}, host: 10.%}, {name: app, password: '', pooling: session, plugin: client_ed25519, connections: 4}]\n\
         admins: [app, 'ops@10.%']\n\
         pooling: transaction\n\
         limits: {connections: 5, per_user: 3, per_backend: 9, statements_per_backend: 7, queue: 9, prepared_statements: 11}\n\
         timeouts: {connect: 500ms, wait: 1m, idle: never, read: 2h, statement: 30s, login: 3s, drain: 1s}\n\
         rules: {files: ['builtin:*', 'rules/*.yaml']}\n\
         schemas: {shop: {home: s1}}\n\
         log: {level: debug, format: json, literals: true}\n",
        false,
    )
    .unwrap();
    let listen: Vec<String> = config.listen.iter().map(ToString::to_string).collect();
    let socket = format!("unix:{}/run/shuntyard.sock", folder.path().display());
    assert_eq!(listen, ["127.0.0.1:4306", "[::1]:0", "127.0.0.1:4307", socket.as_str()]);
    assert_eq!((config.http, config.data.as_path()), (None, Path::new("/var/lib/shuntyard")));
    assert_eq!(config.tls.mode, Encryption::Required);
    assert_eq!(config.tls.certificate.unwrap().1, folder.path().join("key.pem"));
    assert_eq!(config.server_version.as_deref(), Some("10.11.6-MariaDB-shuntyard"));
    let [one, two, three] = &config.backends[..] else { panic!("{:?}", config.backends) };
    let settings = vec![("optimizer_switch".to_owned(), "derived_merge=off".to_owned())];
    let bundled = Bundled { server: None, memory: MemoryUse::Half, settings };
    assert_eq!((one.name.as_str(), &one.place), ("s1", &Place::Bundled(bundled)));
    let Place::External(external) = &two.place else { panic!("{two:?}") };
    assert_eq!((external.tls, two.expendable), (TlsMode::VerifyIdentity, true));
    let Place::External(external) = &three.place else { panic!("{three:?}") };
    assert_eq!(external.address, Address::Unix(folder.path().join("run/mysqld.sock")));
    let account = config.account.unwrap();
    assert_eq!((account.user.as_str(), account.password.expose().as_str()), ("shuntyard", "secret"));
    let Users::Listed(users) = config.users else { panic!("not listed") };
    let pooling: Vec<Option<Pooling>> = users.iter().map(|user| user.pooling).collect();
    assert_eq!(pooling, [None, Some(Pooling::Session)]);
    let logins: Vec<_> = users.iter().map(|user| (user.plugin, user.connections)).collect();
    assert_eq!(logins, [(None, None), (Some(wire::auth::Plugin::Ed25519), Some(4))]);
    assert!(users.first().unwrap().host.as_ref().unwrap().matches("app", Some("10.1.1.1".parse().unwrap())));
    assert!(
        config.admins.contains("ops", Some("10.9.9.9".parse().unwrap()))
            && !config.admins.contains("ops", None)
    );
    assert_eq!((config.limits.connections, config.limits.per_user), (5, Some(3)));
    assert_eq!((config.limits.per_backend, config.limits.statements_per_backend), (Some(9), Some(7)));
    assert_eq!((config.limits.queue, config.limits.prepared_statements), (9, 11));
    assert_eq!(config.pooling, Pooling::Transaction);
    assert_eq!((config.timeouts.idle, config.timeouts.read), (None, Some(Duration::from_secs(7200))));
    assert_eq!(config.timeouts.connect, Duration::from_millis(500));
    assert_eq!(config.schemas.first().unwrap().home, "s1");
    assert_eq!(config.log, Log { level: Level::DEBUG, format: Format::Json, literals: true });
}

#[test]
fn every_fault_is_told_at_once_with_its_place() {
    let found = faults(
        "listen: [*:4306, nonsense, 127.0.0.1:1, 127.0.0.1:1]\n\
         lisen: 1\n\
         backends:\n\
         \x20 s1: {bundled: maria}\n\
         \x20 s/2: {primary: 'nohost'}\n\
         \x20 s3: {}\n\
         \x20 S3: {primary: 'h:1', bundled: mariadb}\n\
         \x20 s4: {primary: 'h:1', tls: {mode: verify_ca}}\n\
         timeouts: {idle: 8, connect: 0s, statement: never}\n\
         limits: {connections: 0}\n\
         schemas: {shop: {home: s9}, shuntyard: {home: s1}}\n\
         log: {literals: off}\n\
         admins: app\n",
    );
    // A star begins an alias: the file is not YAML, which is the one fault that hides others.
    assert_eq!(found.len(), 1, "{found:?}");
    let found = faults(
        "listen: ['*:4306', nonsense, 127.0.0.1:1, 127.0.0.1:1]\n\
         lisen: 1\n\
         backends:\n\
         \x20 s1: {bundled: maria}\n\
         \x20 s/2: {primary: 'nohost'}\n\
         \x20 s3: {}\n\
         \x20 S3: {primary: 'h:1', bundled: mariadb}\n\
         \x20 s4: {primary: 'h:1', tls: {mode: verify_ca}}\n\
         timeouts: {idle: 8, connect: 0s, statement: never}\n\
         limits: {connections: 0}\n\
         schemas: {shop: {home: s9}, shuntyard: {home: s1}}\n\
         log: {literals: off}\n\
         admins: app\n",
    );
    for expected in [
        "1:10 `*:4306`: every interface is written 0.0.0.0:4306",
        "1:20 expected an IP address and port",
        "1:43 127.0.0.1:1 stands here twice",
        "2:1 unknown key `lisen` in the configuration, did you mean `listen`?",
        "4:17 expected one of mariadb, found `maria`, did you mean `mariadb`?",
        "5:3 a backend's name has",
        "5:18 `nohost` is not an address",
        "6:3 a backend has either",
        "7:3 `s3` and `S3` differ in case only",
        "7:3 a backend has either",
        "8:29 this mode needs `ca`",
        "9:18 expected a duration such as",
        "9:30 expected a duration between",
        "10:23 expected a whole number from 1 to 1000000",
        "11:24 no backend is called `s9`",
        "11:29 `shuntyard` cannot be a schema of yours",
        "12:17 expected true or false, found `off`",
        "13:9 expected a list of accounts",
        "1:1 `account` is missing",
    ] {
        assert!(found.iter().any(|fault| fault.starts_with(expected)), "{expected} is not in {found:#?}");
    }
    assert_eq!(found.len(), 19, "{found:#?}");
}

#[test]
fn what_later_versions_can_is_refused_not_ignored() {
    let found = faults(
        "backends: {s1: {bundled: mariadb}, s2: {bundled: mariadb}}\n\
         shadow: {rules: {to: self}}\n\
         schemas: {shop: {home: s1, tables: {orders: {shard: {by: key}}}}, x: {home: s2}}\n",
    );
    let places: Vec<&str> = found.iter().map(|fault| fault.split(' ').next().unwrap()).collect();
    assert_eq!(places, ["2:1", "3:28", "3:77"], "{found:#?}");
    assert!(found.iter().all(|fault| fault.contains("is not supported by this version")), "{found:#?}");
}

#[test]
fn secrets_in_the_clear_are_refused_where_others_can_read_them() {
    let text = "backends: {s1: {bundled: mariadb}}\nusers: [{name: app, password: hunter2}, {name: open, password: ''}]\n";
    assert!(parse(text).is_ok());
    let faults = parse_in(Path::new("/nowhere"), text, true).unwrap_err();
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!(fault.span.to_string(), "2:31");
    assert!(!fault.message.contains("hunter2"));
    let config = parse(text).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn secrets_come_from_private_files_without_their_newline() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pw");
    let text = "backends: {s1: {primary: 'h:1'}}\naccount: {user: proxy, password: {file: pw}}\n";
    assert!(
        parse_in(folder.path(), text, true).unwrap_err().first().unwrap().message.contains("cannot be read")
    );
    fs::write(&file, "s3cret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let config = parse_in(folder.path(), text, true).unwrap();
    assert_eq!(config.account.unwrap().password.expose().as_str(), "s3cret");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    let faults = parse_in(folder.path(), text, false).unwrap_err();
    assert!(faults.first().unwrap().message.contains("chmod o-r"), "{faults:?}");
    for (wrong, part) in [
        ("{env: NOT_SET}", "NOT_SET is not set"),
        ("{env: A, file: b}", "either"),
        ("{}", "either"),
        ("[a]", "found a list"),
        ("", "found nothing"),
    ] {
        let text = format!("backends: {{s1: {{primary: 'h:1'}}}}\naccount: {{password: {wrong}}}\n");
        let faults = parse_in(folder.path(), &text, false).unwrap_err();
        assert!(faults.len() == 1 && faults.first().unwrap().message.contains(part), "{wrong}: {faults:?}");
    }
}

#[test]
fn a_file_on_disk_is_read_with_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shuntyard.yaml");
    let missing = Config::load(&path).unwrap_err();
    assert!(
        missing.first().unwrap().to_string().contains("shuntyard.yaml:1:1: cannot be read"),
        "{missing:?}"
    );
    fs::write(&path, format!("{SMALLEST}users: [{{name: app, password: clear}}]\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(Config::load(&path).unwrap_err().first().unwrap().message.contains("in the clear"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let config = Config::load(&path).unwrap();
    assert_eq!(
        (config.file.as_deref(), config.data.as_path()),
        (Some(path.as_path()), &*folder.path().join("data"))
    );
    fs::write(&path, [0xff]).unwrap();
    assert_eq!(Config::load(&path).unwrap_err().len(), 1);
}

#[test]
fn nothing_that_is_no_configuration_makes_it_panic() {
    for text in [
        "",
        "[]",
        "a",
        "backends:",
        "backends: {}",
        "backends: []",
        "backends: {s1: }",
        "{",
        "backends: {s1: {bundled: }}",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    // Every prefix of a good file ends in faults or in a configuration.
    let text = "backends: {s1: {primary: 'h:1', tls: {mode: required}}}\naccount: {password: 'x'}\nadmins: [a, 'b@c']\n";
    for end in 0..text.len() {
        let _ = parse(&text[..end]);
    }
}

#[test]
fn one_backend_without_a_file() {
    let account = Account { user: "root".into(), password: Secret::new("") };
    let config = Config::for_backend("db:3306".parse().unwrap(), account, "/data".into());
    assert!(config.admins.contains("root", None));
    assert_eq!((config.backends.len(), config.file.is_none()), (1, true));
}

#[test]
fn what_only_a_restart_changes_is_named() {
    let old = parse(SMALLEST).unwrap();
    let new = parse(&format!("{SMALLEST}listen: 127.0.0.1:1\nadmins: [x]\nlog: {{level: warn}}\n")).unwrap();
    assert_eq!(old.needs_restart(&new), ["listen", "log"]);
    assert!(old.needs_restart(&old).is_empty());
}

#[test]
fn the_examples_of_the_documentation_are_valid() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rules")).unwrap();
    fs::create_dir(folder.path().join("tls")).unwrap();
    for name in ["tls/cert.pem", "tls/key.pem", "tls/ca.pem"] {
        fs::write(folder.path().join(name), "pem").unwrap();
    }
    let examples: Vec<&str> =
        page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let environment = |_: &str| Some("secret".to_owned());
        let read = Config::parse(&folder.path().join("shuntyard.yaml"), example, true, &environment);
        assert!(read.is_ok(), "{example}\n{:#?}", read.unwrap_err());
    }
}

/// Files made of the right words in any order, and a good one with a piece put in: faults with places, or a configuration.
#[test]
fn fuzz_config() {
    const PIECES: [&str; 52] = [
        "\n",
        ": ",
        ", ",
        "{",
        "}",
        "[",
        "]",
        "  ",
        "- ",
        "backends",
        "s1",
        "primary",
        "'h:1'",
        "bundled",
        "mariadb",
        "account",
        "user",
        "password",
        "env",
        "APP_PASSWORD",
        "file",
        "tls",
        "mode",
        "verify_ca",
        "ca",
        "listen",
        "127.0.0.1:1",
        "unix:x",
        "http",
        "disabled",
        "limits",
        "connections",
        "timeouts",
        "idle",
        "never",
        "8h",
        "99999999999d",
        "-1",
        "users",
        "from_backends",
        "admins",
        "'a@10.%'",
        "rules",
        "files",
        "'builtin:*'",
        "'*.yaml'",
        "schemas",
        "log",
        "level",
        "pooling",
        "&x ",
        "*x",
    ];
    const GOOD: &str = "listen: [127.0.0.1:4306]\nbackends: {s1: {primary: 'h:1', tls: {mode: required}}}\naccount: {password: {env: APP_PASSWORD}}\n\
        users: [{name: a, password: b, host: '10.%'}]\nlimits: {connections: 5}\ntimeouts: {idle: 8h}\nlog: {level: debug}\n";
    bolero::check!().with_type::<(Vec<u8>, u8, u8, u8)>().for_each(|(picks, at, cut, put)| {
        let text: String = picks.iter().map(|pick| PIECES[usize::from(*pick) % PIECES.len()]).collect();
        let from = usize::from(*at) % GOOD.len();
        let to = (from + usize::from(cut % 12)).min(GOOD.len());
        let changed = format!("{}{}{}", &GOOD[..from], PIECES[usize::from(*put) % PIECES.len()], &GOOD[to..]);
        for text in [text, changed] {
            if let Err(faults) = parse(&text) {
                assert!(!faults.is_empty(), "{text}");
                assert!(faults.iter().all(|fault| fault.span.line >= 1 && fault.span.column >= 1), "{text}");
            }
        }
    });
}
