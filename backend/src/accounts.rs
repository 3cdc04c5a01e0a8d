//! The accounts of a backend, and which of them the server would choose for a client.

mod host;
mod keep;
mod load;
mod stored;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use sql::Product;

pub use host::{HostPattern, Order, Rank};
pub use keep::{AccountsHandle, AccountsKeeper, keep};
pub use load::{load, needed_grants};

/// How an account proves who it is, as far as the proxy can check it.
#[derive(Clone, PartialEq, Eq)]
pub enum Auth {
    /// `mysql_native_password` with a password: the stored SHA1(SHA1(password)).
    Native([u8; 20]),
    /// `mysql_native_password` without a password.
    Empty,
    /// `caching_sha2_password`: the stored string `$A$rounds$salt+digest`.
    CachingSha2(Vec<u8>),
    /// `mysql_native_password` with a text that is no hash: no password is right.
    Never,
    /// Another plugin, by name. The proxy cannot check a password of it, only try it at the server.
    Other(String),
}

/// Plugins that look at who is connected or ask for something else than a password: nothing that could be passed on.
const NO_PASSWORD: [&str; 9] = [
    "unix_socket",
    "auth_socket",
    "named_pipe",
    "gssapi",
    "authentication_kerberos",
    "authentication_windows",
    "authentication_fido",
    "authentication_webauthn",
    "mysql_no_login",
];

/// The exchange by which an account proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`.
    CachingSha2,
    /// The password in the clear, for the server to judge.
    Clear,
}

impl Auth {
    /// The exchange; `None` where there is none that could be passed on.
    #[must_use]
    pub fn way(&self) -> Option<Way> {
        match self {
            Self::Native(_) | Self::Empty | Self::Never => Some(Way::Native),
            Self::CachingSha2(_) => Some(Way::CachingSha2),
            Self::Other(plugin) => (!NO_PASSWORD.contains(&plugin.as_str())).then_some(Way::Clear),
        }
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Native(_) => "Native(..)",
            Self::Empty => "Empty",
            Self::CachingSha2(_) => "CachingSha2(..)",
            Self::Never => "Never",
            Self::Other(plugin) => plugin,
        })
    }
}

/// What an account demands of the client's transport (`REQUIRE …`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Nothing.
    Any,
    /// TLS (`REQUIRE SSL`).
    Tls,
    /// A client certificate (`REQUIRE X509`, `SUBJECT`, `ISSUER`, `CIPHER`): the proxy has none to pass on.
    Certificate,
}

/// Whether an account may log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Open,
    /// `ACCOUNT LOCK`.
    Locked,
    /// The password is expired: the server lets in only who may change it.
    Expired,
}

/// One account of a server. Roles are not accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name; empty for an anonymous account.
    pub user: String,
    /// The host part as the server writes it; with `user` it is what `CURRENT_USER()` answers.
    pub host: String,
    /// The plugin that the account names first.
    pub plugin: String,
    /// How it proves who it is.
    pub auth: Auth,
    /// What it demands of the transport.
    pub transport: Transport,
    /// Whether it may log in.
    pub standing: Standing,
}

impl Account {
    /// `user@host`, as `CURRENT_USER()` writes it.
    #[must_use]
    pub fn current_user(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }
}

/// Where a client connects from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Through a Unix socket: `localhost`, without an address.
    Unix,
    /// From an address. Names are not looked up: accounts for other host names than `localhost` match nobody.
    Ip(IpAddr),
}

/// All accounts of one server in the order in which it tries them.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    /// Sorted for each user name, the best first.
    by_user: HashMap<String, Vec<Entry>>,
    names: Names,
    /// One for each account, sorted: where they change, few names change theirs.
    ways: Vec<Way>,
}

#[derive(Debug, Clone)]
struct Entry {
    pattern: HostPattern,
    rank: Rank,
    account: Account,
}

/// Whether the server calls a loopback address `localhost`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Names {
    #[default]
    Resolved,
    Skipped,
}

impl Accounts {
    /// Sorts accounts as `product` does.
    #[must_use]
    pub fn new(product: Product, skip_name_resolve: bool, accounts: Vec<Account>) -> Self {
        let names = if skip_name_resolve { Names::Skipped } else { Names::Resolved };
        let order = match product {
            Product::MariaDb => Order::FewestMatches,
            Product::MySql => Order::NetworksThenPrefix,
        };
        let mut ways: Vec<Way> = accounts.iter().filter_map(|account| account.auth.way()).collect();
        ways.sort_unstable();
        let mut by_user: HashMap<String, Vec<Entry>> = HashMap::new();
        for account in accounts {
            let pattern = HostPattern::parse(&account.host);
            let rank = pattern.rank(order);
            by_user.entry(account.user.clone()).or_default().push(Entry { pattern, rank, account });
        }
        for entries in by_user.values_mut() {
            // Equal ranks: MariaDB goes by the text, downwards, so that `localhost` comes before 127.0.0.1. MySQL's
            // order is that of its table or of CREATE USER.
            entries.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| b.account.host.cmp(&a.account.host)));
        }
        Self { by_user, names, ways }
    }

    /// The account that the server would choose for this user name and client; `None`: it would refuse.
    #[must_use]
    pub fn choose(&self, user: &str, client: Client) -> Option<&Account> {
        let (ip, name) = match client {
            Client::Unix => (None, Some("localhost")),
            Client::Ip(ip) => {
                let ip = ip.to_canonical();
                (Some(ip), (ip.is_loopback() && self.names == Names::Resolved).then_some("localhost"))
            }
        };
        let best = |user: &str| self.by_user.get(user)?.iter().find(|entry| entry.pattern.matches(ip, name));
        let named = if user.is_empty() { None } else { best(user) };
        match (named, best("")) {
            // The host part ranks before the user part: an anonymous account for this very host beats a named one
            // for any host.
            (Some(named), Some(anonymous)) if anonymous.rank < named.rank => Some(&anonymous.account),
            (Some(named), _) => Some(&named.account),
            (None, anonymous) => anonymous.map(|entry| &entry.account),
        }
    }

    /// How to ask a stranger for proof: each way as often as accounts have it, and the same one for the same name, so that it
    /// does not tell which names exist.
    #[must_use]
    pub fn decoy(&self, user: &str) -> Way {
        self.ways.get(pick(user, self.ways.len())).copied().unwrap_or(Way::Native)
    }

    /// Whether any account has this user name.
    #[must_use]
    pub fn knows(&self, user: &str) -> bool {
        self.by_user.contains_key(user)
    }

    /// How many accounts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_user.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_user.is_empty()
    }
}

/// One of `count` things for a name: always the same one, and nearly always the same one where there are a few more.
#[must_use]
pub fn pick(name: &str, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    ((u128::from(hasher.finish()) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests;
