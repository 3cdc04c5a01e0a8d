//! The proxy's own account, the users, the administrators.

use sql::source::Faults;
use sql::yaml::{Node, Value};
use wire::auth::{CLEAR, ED25519, NATIVE, Plugin, SHA2};

use super::limits::Pooling;
use super::reader::Reader;
use super::secret::{self, Secret};
use crate::admin::{Admins, Pattern};

/// The account with which the proxy itself logs in to backends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its name.
    pub(crate) user: String,
    /// Its password; may be empty.
    pub(crate) password: Secret,
}

/// Who may log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Users {
    /// Whoever the home backend knows, with that server's passwords.
    FromBackends,
    /// These; never empty.
    Listed(Vec<User>),
}

/// A listed user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    /// The name.
    pub(crate) name: String,
    /// The password, the same on every backend; may be empty.
    pub(crate) password: Secret,
    /// From where; `None` is everywhere.
    pub(crate) host: Option<Pattern>,
    /// How it proves its password; `None` where the client chooses.
    pub(crate) plugin: Option<Plugin>,
    /// Its connections at most.
    pub(crate) connections: Option<usize>,
    /// How its sessions share connections, if that is said.
    pub(crate) pooling: Option<Pooling>,
}

const PLUGINS: [(&str, Plugin); 4] =
    [(NATIVE, Plugin::Native), (SHA2, Plugin::Sha2), (CLEAR, Plugin::Clear), (ED25519, Plugin::Ed25519)];

/// The longest user name of MariaDB, in characters; MySQL's is 32.
const NAME_MAX: usize = 128;

fn name(node: &Node, faults: &Faults) -> Option<String> {
    let text = node.text("a user's name", faults)?;
    if text.chars().count() > NAME_MAX || text.contains('\0') || text.is_empty() {
        faults.add(node.span, format!("a user's name has 1 to {NAME_MAX} characters"));
    }
    Some(text.to_owned())
}

pub(super) fn account(node: &Node, reader: &Reader<'_>) -> Option<Account> {
    let fields = node.fields("`account`", reader.faults)?;
    let user =
        fields.optional("user").map_or(Some(super::ACCOUNT.to_owned()), |node| name(node, reader.faults));
    let password = fields.required("password").and_then(|node| secret::read(node, reader));
    fields.finish();
    Some(Account { user: user?, password: password? })
}

pub(super) fn users(node: &Node, reader: &Reader<'_>) -> Users {
    let faults = reader.faults;
    if let Value::Scalar(scalar) = &node.value
        && scalar.text == "from_backends"
    {
        return Users::FromBackends;
    }
    let Value::Seq(items) = &node.value else {
        faults.add(
            node.span,
            format!("expected `from_backends` or a list of users, found {}", node.describe()),
        );
        return Users::FromBackends;
    };
    if items.is_empty() {
        faults.add(node.span, "a list without users: nobody could log in");
    }
    let mut found: Vec<User> = Vec::new();
    for item in items {
        let Some(user) = user(item, reader) else { continue };
        if found.iter().any(|other| other.name == user.name && other.host == user.host) {
            faults.add(item.span, format!("the user `{}` stands here twice", user.name));
        }
        found.push(user);
    }
    Users::Listed(found)
}

fn user(node: &Node, reader: &Reader<'_>) -> Option<User> {
    let faults = reader.faults;
    let fields = node.fields("a user", faults)?;
    let name = fields.required("name").and_then(|node| name(node, faults));
    let password = fields.required("password").and_then(|node| secret::read(node, reader));
    let host = fields.optional("host");
    let plugin = fields.optional("plugin").and_then(|node| node.choice(&PLUGINS, faults));
    let connections =
        fields.optional("connections").and_then(|node| node.integer(1..=1_000_000_usize, faults));
    let pooling = fields.optional("pooling").and_then(|node| super::limits::pooling(node, faults));
    fields.finish();
    let name = name?;
    let host = match host {
        None => None,
        Some(node) => {
            let text = node.text("a host pattern such as `10.%`", faults)?;
            match Pattern::new(&name, text) {
                Ok(pattern) => Some(pattern),
                Err(why) => {
                    faults.add(node.span, why);
                    None
                }
            }
        }
    };
    Some(User { name, password: password?, host, plugin, connections, pooling })
}

pub(super) fn admins(node: &Node, faults: &Faults) -> Admins {
    let mut patterns = Vec::new();
    for item in node.list("accounts", faults).unwrap_or_default() {
        let Some(text) = item.text("an account such as `app` or \"ops@10.%\"", faults) else { continue };
        match Pattern::parse(text) {
            Ok(pattern) => patterns.push(pattern),
            Err(why) => faults.add(item.span, why),
        }
    }
    Admins::new(patterns)
}
